"""The console: signing in, what others can do to it, and its looks in every size, theme and language."""

from __future__ import annotations

import json
import re
import unittest
from urllib.parse import quote

from console import SCREENS, Console, person
from desk import Desk, eventually
from engines import DESKTOP, PHONE, Chromium, Engine
from harness import BrowserCase, chromium, desk, looks_in, webkit
from selenium.webdriver.common.keys import Keys
from test_paying import Serving, both

WALL = (2560, 1440)
#: What a reader's screens may show: none of these changes anything.
HARMLESS = {"sign-out", "curl", "copy", "export", "next", "filter", "preview", "cancel", "language"}
HOSTILE = "<img src=x onerror=\"window.pwned=1\">'\"</script><script>window.pwned=1</script>{{7*7}}${7*7}"


def quiet(engine: Engine) -> list[str]:
    """Errors of the page's console, but for the browser's own line about a refused answer."""
    return [fault for fault in engine.faults() if "Failed to load resource" not in fault and "the server responded with a status of" not in fault.lower()]


class Signing(BrowserCase):
    @both
    def test_signed_in_a_list_and_an_act(self, engine: Engine, desk: Desk) -> None:
        order = desk.paid(f"signing-{engine.name}")["order_id"]
        made = desk.key("admin")
        console = Console(engine, desk).enter(made["key"])
        kept = engine.js("return JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, document.documentElement.outerHTML])")
        self.assertNotIn(made["key"], kept + engine.driver.current_url)
        engine.press('a[data-nav="orders"]')
        console.until("orders")
        self.assertIn(order, console.rows("orders"))
        engine.press(f'tr[data-id="{order}"] a')
        console.until("order")
        self.assertEqual(console.act("refund", amount="10.00", reason="half a month"), ("ok", None))
        self.assertTrue(eventually(lambda: console.rows("refunds") and console.at("order")))
        shown = desk.read(f"orders/{order}")
        self.assertEqual([(each["amount"]["value"], each["reason"]) for each in shown["refunds"]], [(1000, "half a month")])
        self.assertEqual(desk.read(f"audit?subject={order}")["items"][0]["via"], "console")
        engine.press('[data-action="sign-out"]')
        console.until("sign-in")
        self.assertEqual(desk.read(f"orders/{order}")["status"], "partially_refunded")
        self.assertEqual(quiet(engine), [])

    @both
    def test_the_export_follows_the_list(self, engine: Engine, desk: Desk) -> None:
        user = f"export-{engine.name}"
        paid = {desk.paid(user)["order_id"], desk.paid(user)["order_id"]}
        desk.opened(user)
        console = Console(engine, desk).enter(desk.admin, f"#/orders?user_id={user}&status=paid", "orders")
        self.assertEqual(set(console.rows("orders")), paid)
        # The file is read and not saved.
        engine.js("""const make = URL.createObjectURL;
            URL.createObjectURL = blob => { blob.text().then(text => { window.saved = text; }); return make.call(URL, blob); };
            HTMLAnchorElement.prototype.click = () => {};""")
        engine.press('main [data-action="export"]')
        lines = engine.wait(lambda: engine.js("return window.saved"), "the file").splitlines()
        self.assertEqual({line.split(",")[0] for line in lines[1:]}, paid)

    @both
    def test_a_wrong_key_is_refused(self, engine: Engine, desk: Desk) -> None:
        console = Console(engine, desk).load()
        if not console.at("sign-in"):
            engine.press('[data-action="sign-out"]')
            console.until("sign-in")
        console.type('input[name="key"]', desk.key("orders:read")["key"])
        engine.press('[data-action="sign-in"]')
        self.assertEqual(console.outcome(), ("error", "forbidden"))
        self.assertTrue(console.at("sign-in"))

    @both
    def test_a_revoked_key_asks_again_and_goes_on(self, engine: Engine, desk: Desk) -> None:
        made, order = desk.key("admin"), desk.paid(f"revoked-{engine.name}")["order_id"]
        console = Console(engine, desk).enter(made["key"], f"#/orders/{order}", "order")
        desk.data("DELETE", f"/v1/admin/api-keys/{made['id']}", None, desk.admin)
        engine.js("location.hash = '#/people'")
        console.until("sign-in")
        self.assertNotIn(order, engine.js("return document.body.textContent"))
        console.sign_in(desk.admin).until("people")


class Guards(BrowserCase):
    def detail(self, user: str, sku: str = "vip_month") -> dict[str, str]:
        """The addresses of the screens of one thing."""
        order = desk().paid(user)["order_id"]
        notification = desk().read("notifications")["items"][0]["id"]
        return {"order": f"#/orders/{order}", "person": person(user), "sku": f"#/catalogue/{sku}", "notification": f"#/notifications/{notification}"}

    def test_a_reader_sees_no_act(self) -> None:
        detail = self.detail("read-only")
        hook = desk().data("POST", "/v1/partner/webhooks", {"url": "http://127.0.0.1:1/hook", "types": []}, desk().key("webhooks:write", partner="readers")["key"])
        console = Console(chromium(), desk()).enter(desk().key("admin:read")["key"])
        found = {}
        for screen, address in {**{name: f"#/{name}" for name in SCREENS}, **detail, "webhook": f"#/webhooks/{hook['id']}"}.items():
            found[screen] = console.go(address, screen).actions() - HARMLESS
        self.assertEqual({screen: actions for screen, actions in found.items() if actions}, {})
        self.assertEqual(quiet(chromium()), [])

    def test_hostile_names_are_text(self) -> None:
        sku = {"id": "hostile", "name": HOSTILE, "description": HOSTILE, "kind": "non_renewing", "tier": "Hostile", "duration_days": 30, "prices": [{"currency": "CNY", "value": 3990}],
               "attributes": {HOSTILE[:40]: HOSTILE}, "localizations": {"zh-Hans": {"name": HOSTILE, "description": HOSTILE}}}  # fmt: skip
        desk().data("POST", "/v1/admin/skus", sku, desk().admin)
        order = desk().paid(HOSTILE, "hostile", metadata={HOSTILE[:50]: HOSTILE})["order_id"]
        desk().data("POST", f"/v1/admin/orders/{order}/refunds", {"amount": {"value": 1, "currency": "CNY"}, "reason": HOSTILE}, desk().admin)
        made = desk().data("POST", "/v1/admin/api-keys", {"name": HOSTILE, "scopes": ["orders:read"], "partner": "hostile"}, desk().admin)
        self.assertTrue(made["key"])
        places = {"orders": "#/orders?sku=hostile", "order": f"#/orders/{order}", "people": "#/people?prefix=" + quote(HOSTILE[:20], safe=""), "person": person(HOSTILE), "catalogue": "#/catalogue",
                  "sku": "#/catalogue/hostile", "keys": "#/keys", "audit": "#/audit", "home": "#/home"}  # fmt: skip
        for language in ["en", "zh-Hans"]:
            console = Console(chromium(), desk()).enter(desk().admin, language=language)
            for screen, address in places.items():
                with self.subTest(screen=screen, language=language):
                    console.go(address, screen)
                    self.assertEqual(chromium().js("return [window.pwned ?? null, document.querySelectorAll('main img, main script').length]"), [None, 0])
            console.go(places["order"], "order")
            self.assertIn(HOSTILE, chromium().js("return document.querySelector('main').textContent"))
            console.type("input[name=q]", HOSTILE[:20])
            chromium().wait(lambda: chromium().find('ul[data-list="results"] li'), "what the search found")
            self.assertIsNone(chromium().js("return window.pwned ?? null"))
        self.assertEqual(quiet(chromium()), [])

    @both
    def test_another_origin_can_do_nothing(self, engine: Engine, desk: Desk) -> None:
        """Pages of the same site and of another one try with the cookie of who is signed in: calls, a form, a frame."""
        user = f"victim-{engine.name}"
        desk.paid(user)
        Console(engine, desk).enter(desk.admin)
        target = f"{desk.url}/v1/admin/users/{user}/grants"
        body = json.dumps({"sku": "device_walkie_talkie", "reason": "forged"})
        page = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Evil</title><h1>Evil</h1><iframe name="sink"></iframe><iframe id="console" src="{desk.url}/console"></iframe>
            <form method="post" action="{target}" enctype="text/plain" target="sink"><input name='{{"sku":"device_walkie_talkie","reason":"forged' value='"}}'></form>
            <script>
            const tries = [["cors", "application/json", {{"X-Paydesk-Console": "1"}}], ["cors", "text/plain", {{}}], ["no-cors", "text/plain", {{}}]];
            document.forms[0].submit();
            Promise.all([...tries.map(([mode, type, more]) => fetch({json.dumps(target)}, {{method: "POST", mode, credentials: "include", headers: {{"Content-Type": type, ...more}}, body: {json.dumps(body)}}})
                .then(reply => reply.type === "opaque" ? "opaque" : reply.status, () => "refused")),
                fetch({json.dumps(desk.url + "/v1/admin/orders")}, {{credentials: "include"}}).then(reply => reply.text(), () => "refused")]).then(all => {{ window.results = all; }});
            </script>"""
        with Serving(page) as url:
            for address in (url, url.replace("127.0.0.1", "localhost")):
                with self.subTest(address=address):
                    engine.driver.get(address)
                    results = engine.wait(lambda: engine.js("return window.results"), "the answers")
                    self.assertEqual([results[0], results[1], results[3]], ["refused"] * 3)
                    engine.driver.switch_to.frame(engine.find("#console")[0])
                    self.assertEqual(engine.find("[data-page]"), [])
                    engine.driver.switch_to.default_content()
        owned = [each["sku"] for each in desk.read(f"users/{user}/entitlements")["entitlements"]]
        self.assertEqual(owned, ["vip_month"])
        # Whoever is signed in stays signed in.
        console = Console(engine, desk).load()
        self.assertTrue(console.at("home"))
        engine.faults()


class Looks(BrowserCase):
    @classmethod
    def places(cls) -> dict[str, str]:
        """Every screen, with a long name, a large amount and a long id."""
        if not hasattr(cls, "made"):
            user = "u" * 120
            sku = {"id": "console_long", "name": "x" * 60, "kind": "non_renewing", "tier": "y" * 40, "duration_days": 30, "prices": [{"currency": "CNY", "value": 123_456_789}, {"currency": "JPY", "value": 1}]}
            desk().data("POST", "/v1/admin/skus", sku, desk().admin)
            order = desk().paid(user, "console_long")["order_id"]
            notification = desk().read("notifications")["items"][0]["id"]
            cls.made = {**{name: f"#/{name}" for name in SCREENS}, "order": f"#/orders/{order}", "person": person(user), "sku": "#/catalogue/console_long", "notification": f"#/notifications/{notification}", "not-found": "#/nowhere"}
        return cls.made

    @looks_in("chromium")
    def test_every_screen_in_chromium(self) -> None:
        engine = chromium()
        for language in ["en", "zh-Hans"]:
            engine.resize(*DESKTOP)
            console = Console(engine, desk()).enter(desk().admin, language=language)
            engine.faults()
            for screen, address in self.places().items():
                with self.subTest(screen=screen, language=language):
                    console.go(address, screen)
                    found = self.words(engine, language)
                    for size, dark, runs_axe in [(DESKTOP, False, True), (PHONE, True, True), (WALL, True, False), (PHONE, False, False)]:
                        engine.resize(*size)
                        engine.theme(dark)
                        found += [f"{size} dark={dark}: {fault}" for fault in (engine.axe() if runs_axe else [])]
                        if engine.overflow() > 0:
                            found.append(f"{size}: {engine.overflow()} px too wide: {console.widest()}")
                    self.assertEqual(found + quiet(engine), [])
            engine.resize(*PHONE)
            console.go(self.places()["order"], "order").open("refund")
            self.assertEqual((engine.axe(), engine.overflow() <= 0), ([], True))
            console.close()
        engine.theme(False)
        engine.resize(*DESKTOP)

    @looks_in("webkit")
    def test_every_screen_in_webkit(self) -> None:
        # The theme is set when the browser starts.
        for dark, language, size in [(False, "en", DESKTOP), (True, "zh-Hans", PHONE)]:
            engine = webkit(dark)
            engine.resize(*size)
            console = Console(engine, desk()).enter(desk().admin, language=language)
            engine.faults()
            for screen, address in self.places().items():
                with self.subTest(screen=screen, language=language):
                    console.go(address, screen)
                    found = self.words(engine, language) + engine.axe()
                    if engine.overflow() > 0:
                        found.append(f"{engine.overflow()} px too wide: {console.widest()}")
                    self.assertEqual(found + quiet(engine), [])

    @staticmethod
    def words(engine: Engine, language: str) -> list[str]:
        """Faults of the document: its language, one `main` with one `h1`, words that the table lacks."""
        # The templates of routes have words in braces of their own.
        text = engine.js(
            "return [...document.querySelectorAll('.mono')].reduce((text, each) => text.replace(each.innerText, ''), document.body.innerText)"
        )
        found = [] if engine.js("return document.documentElement.lang") == language else ["another language"]
        if len(engine.find("main")) != 1 or len(engine.find("main h1")) != 1:
            found.append("not one main with one h1")
        return found + [f"{word} is not in the table" for word in re.findall(r"\{[a-z]+_[a-z_]+\}", text)]

    def test_by_keyboard_alone(self) -> None:
        order = desk().paid("keyboard")["order_id"]
        engine = chromium()
        engine.resize(*DESKTOP)
        console = Console(engine, desk()).load()
        if not console.at("sign-in"):
            engine.press('[data-action="sign-out"]')
            console.until("sign-in")
        console.tab_to('input[name="key"]')
        console.key(desk().admin)
        console.key(Keys.ENTER)
        console.until("home")
        console.tab_to('a[data-nav="orders"]')
        console.key(Keys.ENTER)
        console.until("orders")
        self.assertTrue(console.focused("h1"))
        console.tab_to(f'tr[data-id="{order}"] a')
        console.key(Keys.ENTER)
        console.until("order")
        console.tab_to('[data-action="refund"]')
        console.key(Keys.ENTER)
        engine.wait(lambda: engine.find('dialog[data-dialog="refund"][open]'), "the dialog")
        for _ in range(14):
            self.assertTrue(engine.js("return document.activeElement === document.body || !!document.activeElement.closest('dialog')"), "the focus left the dialog")
            console.key(Keys.TAB)
        console.tab_to('dialog [name="amount"]')
        console.key("2.50")
        console.tab_to('dialog [name="reason"]')
        console.key("by keyboard")
        console.key(Keys.ENTER)
        self.assertEqual(console.outcome(), ("ok", None))
        self.assertEqual([each["amount"]["value"] for each in desk().read(f"orders/{order}")["refunds"]], [250])
        engine.wait(lambda: console.at("order") and console.focused('[data-action="refund"]'), "the focus at its button")


if __name__ == "__main__":
    unittest.main()
