"""A newcomer's first hour with the console: sell something, have it paid, find the order, give a part back, see why."""

from __future__ import annotations

import os
import re
import unittest
from pathlib import Path

from console import Console
from desk import eventually
from engines import DESKTOP, PHONE
from harness import BrowserCase, chromium, desk
from selenium.webdriver.common.by import By

#: A folder for a picture of each step; none are taken without it.
PICTURES = os.environ.get("PICTURES")


class Hour(BrowserCase):
    def test_a_newcomer_sells_and_mends(self) -> None:
        engine = chromium()
        engine.resize(*DESKTOP)
        console = Console(engine, desk())
        # The link that the server printed at its start; another test may have used the first one.
        desk().stop()
        desk().start()
        once = re.findall(r"/console(#once=[A-Za-z0-9_-]+)", (desk().home / "server.log").read_text())[-1]
        console.load()
        if not console.at("sign-in"):
            engine.press('[data-action="sign-out"]')
            console.until("sign-in")
        engine.faults()
        engine.driver.get("about:blank")
        engine.driver.get(desk().url + "/console" + once)
        console.until("home")
        self.assertNotIn("once", engine.driver.current_url)
        self.picture("1-home")

        console.go("#/catalogue", "catalogue")
        engine.press('main a[data-action="add"]')
        console.until("sku")
        console.fill("kind", "subscription", "main")
        for name, value in {"id": "plus_month", "name": "Plus", "tier": "Plus", "duration_days": "30", "prices[0].currency": "CNY", "prices[0].value": "25.00"}.items():
            console.fill(name, value, "main")
        engine.press('main [data-action="add-price"]')
        for name, value in {"prices[1].currency": "USD", "prices[1].value": "3.99", "localizations.zh-Hans.name": "Plus 会员"}.items():
            console.fill(name, value, "main")
        console.fill("one_period_elsewhere", ["true"], "main")
        engine.press('main [data-action="dry-run"]')
        self.assertEqual(console.outcome(), ("ok", None))
        self.picture("2-editor")
        console.open("save")
        console.confirm()
        self.assertEqual(console.outcome(), ("ok", None))
        made = desk().read("skus/plus_month")
        self.assertEqual(made["prices"], [{"value": 2500, "currency": "CNY"}, {"value": 399, "currency": "USD"}])
        self.assertEqual(made["localizations"]["zh-Hans"]["name"], "Plus 会员")

        # Somebody who has not bought yet has a page of their own once something is theirs.
        desk().data("POST", "/v1/admin/users/mia/balances/coins/credit", {"amount": 10, "reason": "welcome"}, desk().admin)
        console.go("#/people/mia", "person")
        self.assertEqual(console.act("payment-link", skus=["plus_month"], currency="USD"), ("ok", None))
        link = console.secret()
        self.picture("3-link")
        console.close()

        first = engine.driver.current_window_handle
        engine.driver.switch_to.new_window("window")
        try:
            engine.driver.get(link)
            engine.until("methods")
            engine.method("sandbox-url")
            engine.press('button[value="succeed"]')
            engine.until("paid")
            order = engine.main("order")
            self.picture("4-paid")
        finally:
            engine.driver.close()
            engine.driver.switch_to.window(first)

        payment = desk().read(f"orders/{order}")["payments"][0]["id"]
        console.type("input[name=q]", payment)
        found = f'ul[data-list="results"] li[data-type="order"][data-id="{order}"]'
        engine.wait(lambda: engine.find(found), "the order among the results")
        self.picture("5-search")
        engine.press(found)
        console.until("order")
        self.picture("6-order")
        console.open("refund")
        console.fill("amount", "1.00")
        console.fill("reason", "A late start")
        self.picture("7-refund")
        console.confirm()
        self.assertEqual(console.outcome(), ("ok", None))
        self.assertTrue(eventually(lambda: console.rows("refunds")))
        self.picture("8-refunded")

        console.go("#/people/mia", "person")
        why = engine.wait(lambda: engine.find('[data-list="facts"] li'), "why mia owns what mia owns")
        text = " ".join(each.find_element(By.TAG_NAME, "p").text for each in why)
        for words in ("“Plus” was ordered for 3.99 USD", "the order was paid", "10 coins were credited"):
            self.assertIn(words, text)
        self.assertIn("until", engine.find(".owns")[0].text)
        self.picture("9-person")
        console.go("#/home", "home")
        self.picture("10-home")
        self.assertEqual([fault for fault in engine.faults() if "Failed to load resource" not in fault], [])

    def picture(self, name: str) -> None:
        """Takes the step in four looks, where pictures are wanted."""
        if not PICTURES:
            return
        engine, folder = chromium(), Path(PICTURES)
        folder.mkdir(parents=True, exist_ok=True)
        for size in (DESKTOP, PHONE):
            engine.resize(*size)
            for dark in (False, True):
                engine.theme(dark)
                engine.whole(folder / f"{name}-{size[0]}-{'dark' if dark else 'light'}.png")
        engine.theme(False)
        engine.resize(*DESKTOP)


if __name__ == "__main__":
    unittest.main()
