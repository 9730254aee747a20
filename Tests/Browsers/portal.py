"""The portal: a user with a subscription that Paydesk renews, and how a browser gets to each of its pages."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from desk import Desk, eventually

BACK = "https://aurora.example/account"
#: Names of pages with a session, each with the state that it shows.
PAGES = {
    "portal": "overview", "portal_nothing": "overview", "portal_order": "order", "portal_refunded": "order", "portal_subscription": "subscription", "portal_ended": "subscription", "portal_cancel": "subscription",
    "portal_plans": "subscription", "portal_change": "subscription", "portal_card": "card", "portal_redirect": "card", "portal_failed": "card", "portal_replaced": "card", "portal_missing": "unknown",
}  # fmt: skip
#: Names of pages without one, in the browser's language.
OTHERS = {"portal_elsewhere": "elsewhere", "portal_expired": "expired", "portal_unknown": "unknown"}


class Subscriber:
    """A new user who has paid for a period of `club`."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        club(desk)
        self.user = desk.user()
        session = desk.session(self.user, "club")
        contract = desk.buy(session, provider="sandbox-url")
        play(desk, contract["payment_id"])
        assert eventually(lambda: desk.shown(session)["state"] == "paid"), "the subscription has not begun"
        self.order, self.id = contract["order_id"], self.subscriptions()[0]["id"]

    def subscriptions(self) -> list[dict[str, Any]]:
        return self.desk.data("GET", "/v1/public/subscriptions", None, self.user)["items"]

    @property
    def found(self) -> dict[str, Any]:
        return self.subscriptions()[0]

    def replace(self, session: dict[str, Any]) -> dict[str, Any]:
        """The open contract of another payment method, made on the portal's page."""
        address = f"{self.desk.url}/portal/s/{session['id']}/subscriptions/{self.id}/card"
        body = {"platform": "web", "accept": ["url"], "return_url": address}
        return self.desk.data("POST", f"/v1/public/subscriptions/{self.id}/payment-method", body, session["token"])


def club(desk: Desk) -> None:
    """Two plans of one group, which Paydesk renews."""
    for sku, price, unit in [("club", 3990, "month"), ("club_year", 39900, "year")]:
        status, _ = desk.call("GET", f"/v1/admin/skus/{sku}", None, desk.admin)
        if status == 404:
            names = {"zh-Hans": {"name": "会员" + ("年卡" if unit == "year" else "连续包月")}}
            body = {"id": sku, "name": f"Club, by the {unit}", "kind": "subscription", "tier": "Club", "rank": 40, "stack_group": "club", "renewal": "managed",
                    "period": {"unit": unit, "count": 1}, "prices": [{"currency": "CNY", "value": price}], "localizations": names}  # fmt: skip
            desk.data("POST", "/v1/admin/skus", body, desk.admin)


def play(desk: Desk, subject: str, outcome: str = "succeed", **more: str) -> None:
    form = urlencode({"outcome": outcome, "terms": "accepted", **more})
    status, text = desk.call("POST", f"/sandbox/{subject}", form, kind="application/x-www-form-urlencoded")
    assert status in (200, 303), text[:400]


def portal(desk: Desk, user: str, **more: Any) -> dict[str, Any]:
    return desk.data("POST", "/v1/public/sessions", {"purpose": "portal", "return_url": BACK, **more}, user)


def make(desk: Desk, name: str, locale: str) -> tuple[str, str]:
    """The address that opens a portal, and that of the page below it."""
    if name == "portal_unknown":
        return "", f"{desk.url}/portal/pds_{'A' * 43}"
    if name in ("portal_nothing", "portal_missing", *OTHERS):
        session = portal(desk, desk.user(), locale=locale)
        if name == "portal_expired":
            desk.data("DELETE", f"/v1/admin/sessions/{session['id']}", None, desk.admin)
            return "", session["url"]
        own = f"{desk.url}/portal/s/{session['id']}"
        return ("" if name == "portal_elsewhere" else session["url"]), own + ("/orders/ord_1" if name == "portal_missing" else "")
    held = Subscriber(desk)
    session = portal(desk, held.user, locale=locale)
    own, below = f"{desk.url}/portal/s/{session['id']}", f"/subscriptions/{held.id}"
    places = {"portal": "", "portal_order": f"/orders/{held.order}", "portal_refunded": f"/orders/{held.order}", "portal_cancel": below + "?view=cancel", "portal_plans": below + "?view=plans",
              "portal_change": below + "?view=change&sku=club_year"}  # fmt: skip
    if name == "portal_refunded":
        refund = {"amount": {"value": 1000, "currency": "CNY"}, "reason": "a part"}
        desk.data("POST", f"/v1/admin/orders/{held.order}/refunds", refund, desk.admin)
    if name == "portal_ended":
        desk.data("POST", f"/v1/admin/subscriptions/{held.id}/cancel", {"when": "now"}, desk.admin)
    if name in ("portal_redirect", "portal_failed", "portal_replaced"):
        contract = held.replace(session)
        if name != "portal_redirect":
            play(desk, contract["setup_id"], "fail" if name == "portal_failed" else "succeed")
            path = f"/v1/public/subscriptions/{held.id}/payment-method"
            assert eventually(lambda: desk.call("GET", path, None, session["token"])[0] == 404), "the set-up is still open"
    card = name in ("portal_card", "portal_redirect", "portal_failed", "portal_replaced")
    return session["url"], own + places.get(name, below + ("/card" if card else ""))
