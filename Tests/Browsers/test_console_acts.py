"""Acts of the console: what each changes in the database, and that it acts once whatever happens to it."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from console import Console, person
from desk import Desk, eventually
from harness import BrowserCase, chromium, desk, engines, webkit
from ports import free_port
from stored import changed, tables


@dataclass
class Act:
    """An act of a screen, what is typed, and the tables that it changes beside the audit."""

    name: str
    address: str
    screen: str
    changes: set[str]
    within: str = "main"
    fields: dict[str, Any] = field(default_factory=dict)
    #: Tables of work that the server does by itself meanwhile.
    also: set[str] = field(default_factory=set)


#: What the server writes beside every act: the call's key, its audit entry, and sessions' and nodes' own times.
KEPT = {"idempotency_keys", "console_sessions", "audit", "audit_reasons", "audit_seals"}
#: What the server may write at any moment.
WORK = {"jobs", "counters", "learned_facts", "deliveries", "account_book", "subscriptions"}


def world(desk: Desk) -> list[Act]:
    """Brings about what the acts need, and lists them in an order in which each can be done."""
    user = "ann/é"
    order = "#/orders/" + desk.paid(user)["order_id"]
    odd = desk.opened("bob")
    desk.pay_wrongly(odd, 1000)
    opened = "#/orders/" + desk.opened("carol")["order_id"]
    bought = desk.bought_in_store("dora", "com.qinghe.qinghe.membership.monthlyv4")
    gift = desk.data("POST", "/v1/admin/users/ann%2F%C3%A9/grants", {"sku": "vip_year", "duration_days": 3, "reason": "a gift"}, desk.admin)
    partner = desk.key("webhooks:write", "orders:read", partner="shop")
    hook = desk.data("POST", "/v1/partner/webhooks", {"url": f"http://127.0.0.1:{free_port()}/hook", "types": ["order.opened"]}, partner["key"])
    desk.opened("erin")
    delivery = eventually(lambda: desk.read(f"webhooks/{hook['id']}/deliveries")["items"])[0]["id"]
    notification = desk.read("notifications")["items"][0]["id"]
    key = desk.key("orders:read", partner="shop")
    sku = {"id": "console_old", "name": "Old", "kind": "non_renewing", "tier": "Old", "duration_days": 1, "prices": [{"currency": "CNY", "value": 100}]}
    desk.data("POST", "/v1/admin/skus", sku, desk.admin)
    account = 'tr[data-id="sandbox-stripe"]'
    # Sums are of real money alone, and what was refunded stands at the payment.
    money = {"payments", "order_timeline", "events", "order_places"}
    owned = {"grants", "user_states", "events"}
    return [
        Act("refund", order, "order", money | {"refunds"}, fields={"amount": "10.00", "reason": "half"}),
        Act("settle-mismatch", f"#/orders/{odd['order_id']}", "order", money | owned | {"orders", "mismatches"}, fields={"act": "accept", "reason": "near enough"}),
        Act("refresh", opened, "order", set(), also=money | {"orders"}),
        Act("close", opened, "order", money | {"orders"}),
        Act("credit", person(user), "person", {"balances", "ledger", "events", "user_states"}, fields={"unit": "coins", "amount": "30", "reason": "sorry"}),
        Act("debit", person(user), "person", {"balances", "ledger", "events", "user_states"}, fields={"unit": "coins", "amount": "5", "reason": "too many"}),
        Act("grant", person(user), "person", owned, fields={"sku": "vip_month", "duration_days": "7", "reason": "goodwill"}),
        Act("revoke", person(user), "person", owned, within=f'tr[data-id="{gift["id"]}"]'),
        Act("payment-link", person(user), "person", {"sessions"}, fields={"skus": ["vip_month"], "currency": "CNY"}),
        Act("extend", person("dora"), "person", {"subscriptions", "purchases", "grants", "events", "user_states", "notifications", "box_meta", "box_notifications", "box_subscriptions", "box_transactions"}, fields={"days": "7", "reason_code": "1"}),
        Act("transfer", person("dora"), "person", {"purchase_owners", "purchases", "subscriptions", "grants", "events", "user_states", "users"}, within=f'table[data-list="purchases"] tr[data-id="{bought}"]', fields={"user_id": "fred"}),
        Act("disable", "#/accounts", "accounts", {"account_overrides"}, within=account),
        Act("enable", "#/accounts", "accounts", {"account_overrides"}, within=account),
        Act("routing", "#/accounts", "accounts", {"account_overrides"}, within=account, fields={"priority": "7", "platforms": ["web"]}),
        Act("reset", "#/accounts", "accounts", {"account_overrides"}, within=account),
        Act("sync", "#/accounts", "accounts", set(), within=account),
        Act("replay", f"#/notifications/{notification}", "notification", set()),
        Act("redeliver", f"#/webhooks/{hook['id']}", "webhook", {"deliveries"}, within=f'tr[data-id="{delivery}"]'),
        Act("rotate", f"#/webhooks/{hook['id']}", "webhook", {"webhooks"}),
        Act("disable", f"#/webhooks/{hook['id']}", "webhook", {"webhooks"}),
        Act("enable", f"#/webhooks/{hook['id']}", "webhook", {"webhooks"}),
        Act("add-key", "#/keys", "keys", {"api_keys"}, fields={"name": "by console", "partner": "shop", "scopes": ["orders:read"]}),
        Act("revoke-key", "#/keys", "keys", {"api_keys"}, within=f'tr[data-id="{key["id"]}"]', fields={"confirm": key["id"]}),
        Act("archive", "#/catalogue/console_old", "sku", {"skus"}, fields={"confirm": "console_old"}),
        Act("erase", person("carol"), "person", {"users", "sessions"}, fields={"confirm": "carol"}),
    ]


class Acts(BrowserCase):
    def test_every_act_changes_its_own_tables(self) -> None:
        """The database before and after: a dialog that is left changes nothing, its act changes what it says and is audited as one call."""
        acts = world(desk())
        console = Console(chromium(), desk()).enter(desk().admin)
        for act in acts:
            with self.subTest(act=act.name, screen=act.screen):
                console.go("#/home", "home").go(act.address, act.screen)
                before = tables(desk())
                console.open(act.name, act.within)
                for name, value in act.fields.items():
                    console.fill(name, value)
                console.close()
                self.assertEqual(changed(before, tables(desk())) - KEPT - WORK, set(), "the dialog alone changed something")
                before = tables(desk())
                self.assertEqual(console.act(act.name, act.within, **act.fields), ("ok", None))
                expected = act.changes - WORK
                found = lambda: changed(before, tables(desk())) - KEPT - WORK - act.also  # noqa: E731
                eventually(lambda: found() == expected, 5)
                self.assertEqual(found(), expected)
                # A row begins with subject, position, at, actor, request_id; its seal comes later, for many rows at once.
                known = {row[:5] for row in before["audit"]}
                entries = [row for row in tables(desk())["audit"] if row[:5] not in known and "console" in row]
                requests = {row[4] for row in entries}
                self.assertEqual(len(requests), 1, entries)
                if console.engine.find("dialog[data-dialog=secret][open]"):
                    console.close()
        self.assertEqual([fault for fault in chromium().faults() if "Failed to load resource" not in fault], [])

    def test_a_sku_is_made_on_its_screen(self) -> None:
        console = Console(chromium(), desk()).enter(desk().admin, "#/catalogue/new", "sku")
        for name, value in {"id": "console_new", "name": "New", "kind": "non_renewing", "tier": "New", "duration_days": "30", "prices[0].currency": "CNY", "prices[0].value": "12.34"}.items():
            console.fill(name, value, "main")
        before = tables(desk())
        console.engine.press('[data-action="dry-run"]')
        self.assertEqual(console.outcome(), ("ok", None))
        self.assertEqual(changed(before, tables(desk())) - KEPT - WORK, set())
        console.open("save")
        console.confirm()
        self.assertEqual(console.outcome(), ("ok", None))
        self.assertEqual(changed(before, tables(desk())) - KEPT - WORK, {"skus"})
        self.assertEqual(desk().read("skus/console_new")["prices"], [{"value": 1234, "currency": "CNY"}])


class Once(BrowserCase):
    """One refund, whatever happens to the press that asks for it."""

    def begin(self, make: Callable[[], Any], user: str) -> tuple[Console, str]:
        order = desk().paid(user)["order_id"]
        console = Console(make(), desk()).enter(desk().admin, f"#/orders/{order}", "order")
        return console, order

    def refunds(self, order: str) -> list[int]:
        return [each["amount"]["value"] for each in desk().read(f"orders/{order}")["refunds"]]

    def fill(self, console: Console, amount: str = "1.00") -> None:
        console.open("refund")
        console.fill("amount", amount)
        console.fill("reason", "once")

    def test_a_double_click(self) -> None:
        for make in engines():
            with self.subTest(engine=make.__name__):
                console, order = self.begin(make, f"double-{make.__name__}")
                self.fill(console)
                console.engine.js("const button = document.querySelector('dialog[open] [data-action=confirm]'); button.click(); button.click(); button.click()")
                self.assertEqual(console.outcome(), ("ok", None))
                self.assertEqual(self.refunds(order), [100])

    def test_a_lost_answer(self) -> None:
        for make in engines():
            with self.subTest(engine=make.__name__):
                console, order = self.begin(make, f"lost-{make.__name__}")
                console.engine.js("""
                    const real = window.fetch;
                    window.sent = [];
                    window.fetch = async (address, request) => {
                        if (request?.method !== "POST") return real(address, request);
                        window.sent.push(request.headers["Idempotency-Key"]);
                        const reply = await real(address, request);
                        if (window.sent.length === 1) throw new TypeError("lost");
                        return reply;
                    };""")
                self.fill(console)
                console.confirm()
                self.assertEqual(console.outcome(), ("error", "network"))
                self.assertEqual(self.refunds(order), [100])
                console.last = ""
                console.confirm()
                console.engine.wait(lambda: console.engine.find('[data-result="ok"]'), "the outcome of the second try")
                self.assertEqual(self.refunds(order), [100])
                sent = console.engine.js("return window.sent")
                self.assertEqual((len(sent), len(set(sent))), (2, 1), sent)

    def test_two_admins_at_once(self) -> None:
        """An admin in each engine gives back the whole order at the same time: one of them is refused."""
        order = desk().paid("two-admins")["order_id"]
        two = [Console(make(), desk()).enter(desk().key("admin")["key"], f"#/orders/{order}", "order") for make in (chromium, webkit)]
        for console in two:
            console.open("refund")
            console.fill("reason", "both")
            console.fill("confirm", order)
        for console in two:
            console.engine.js("document.querySelector('dialog[open] [data-action=confirm]').click()")
        outcomes = sorted(str(console.outcome()) for console in two)
        self.assertEqual(outcomes, [str(("error", "refund_exceeds_captured")), str(("ok", None))])
        self.assertEqual(self.refunds(order), [3990])
        for console in two:
            console.go("#/home", "home").go(f"#/orders/{order}", "order")
            self.assertNotIn("refund", console.actions())


if __name__ == "__main__":
    unittest.main()
