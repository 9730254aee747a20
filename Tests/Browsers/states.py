"""Every state of the cashier that the sandbox can bring about, and the other pages: how a browser gets to each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import portal
from desk import Desk, eventually
from engines import Engine

DONE = "https://aurora.example/done"


@dataclass
class Page:
    """An address to open, and the state that it shows."""

    url: str
    state: str
    #: The page has a module, which takes over.
    ready: bool = True
    #: The console says so where a page itself is 404 or 410.
    refused: bool = False
    #: The page speaks the language of the browser, since it has no session.
    own: bool = field(default=False)
    #: An address that opens the session of the page first.
    enter: str = ""

    def open(self, engine: Engine) -> None:
        if self.enter:
            engine.open(self.enter, "overview")
        engine.open(self.url, self.state, self.ready)


def visit(desk: Desk, engine: Engine, name: str, locale: str) -> None:
    """Brings a new session to a state, in a language, and the browser to its page."""
    page = make(desk, name, locale)
    page.open(engine)
    if name == "methods_failed":
        engine.wait(lambda: engine.find('[data-field="error"][data-reason="failed"]'), "the alert")


#: Names of pages with a session, each with the state that it shows.
SESSIONS = ["plans", "methods", "methods_failed", "qr", "redirect", "stripe", "apple_iap", "checking", "paid", "closed", "owned", "unavailable", "attention"]
#: Names of pages without one, in the browser's language.
OTHERS = ["elsewhere", "expired", "unknown", "home", "sandbox", *portal.OTHERS]

SESSIONS += portal.PAGES


def make(desk: Desk, name: str, locale: str) -> Page:
    if name in portal.PAGES:
        enter, url = portal.make(desk, name, locale)
        return Page(url, portal.PAGES[name], refused=name == "portal_missing", enter=enter)
    if name in portal.OTHERS:
        return Page(portal.make(desk, name, locale)[1], portal.OTHERS[name], ready=False, refused=True, own=True)
    if name in OTHERS:
        return other(desk, name, locale)
    user = desk.user()
    skus = {"plans": ["vip_month", "vip_quarter", "coins_100"], "owned": ["device_walkie_talkie"], "unavailable": []}.get(name, ["vip_month"])
    more: dict[str, Any] = {"unavailable": {"currency": "EUR"}, "owned": {"currency": "USD"}, "apple_iap": {"platform": "ios"}}.get(name, {})
    if name == "owned":
        desk.data("POST", f"/v1/admin/users/user-{desk.users}/grants", {"sku": "device_walkie_talkie", "reason": "a gift"}, desk.admin)
    # Without an address to return to, or `paid` would go there by itself.
    back = {} if name == "paid" else {"return_url": DONE}
    session = desk.session(user, *skus, locale=locale, **back, **more)
    account = {"redirect": "sandbox-url", "stripe": "sandbox-stripe"}.get(name, "sandbox-qr")
    if name == "apple_iap":
        desk.buy(session)
    elif name in ("methods_failed", "qr", "redirect", "stripe", "checking", "paid", "closed", "attention"):
        contract = desk.buy(session, provider=account)
        finish(desk, session, contract, name)
    return Page(session["url"], name.split("_failed")[0])


def finish(desk: Desk, session: dict[str, Any], contract: dict[str, Any], name: str) -> None:
    """Does what leads from a contract to the state."""
    outcome = {"methods_failed": "fail", "checking": "pending", "paid": "succeed", "attention": "succeed"}.get(name)
    if outcome:
        desk.act(contract["payment_id"], outcome)
    if name == "closed":
        desk.data("POST", f"/v1/public/orders/{contract['order_id']}/cancel", {}, session["token"])
    if name == "attention":
        assert eventually(lambda: desk.shown(session)["state"] == "paid"), "the order is not paid"
        refund = {"amount": {"value": 1000, "currency": "CNY"}, "reason": "a part"}
        desk.data("POST", f"/v1/admin/orders/{contract['order_id']}/refunds", refund, desk.admin)
    state = name.split("_failed")[0]
    assert eventually(lambda: desk.shown(session)["state"] == state), f"{desk.shown(session)['state']} and not {state}"


def other(desk: Desk, name: str, locale: str) -> Page:
    session = desk.session(desk.user(), "vip_month", locale=locale)
    match name:
        case "elsewhere":
            return Page(f"{desk.url}/pay/s/{session['id']}", name, ready=False, own=True)
        case "expired":
            desk.data("DELETE", f"/v1/admin/sessions/{session['id']}", None, desk.admin)
            return Page(session["url"], name, ready=False, refused=True, own=True)
        case "unknown":
            return Page(f"{desk.url}/pay/pds_{'A' * 43}", name, ready=False, refused=True, own=True)
        case "home":
            return Page(f"{desk.url}/?lang={locale}", name, ready=False)
        case _:
            contract = desk.buy(session, provider="sandbox-url")
            return Page(f"{contract['checkout_url']}?lang={locale}", name, ready=False)
