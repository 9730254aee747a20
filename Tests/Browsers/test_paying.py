"""Paying in both engines: a double press, reload, back, two tabs, a lost network, the shop on another origin."""

from __future__ import annotations

import subprocess
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

from desk import ROOT, Desk, eventually
from engines import Engine
from harness import BrowserCase, both, desk, engines, new_database
from ports import free_port

QR = '[data-action="method"][data-account="sandbox-qr"]'


class Paying(BrowserCase):
    @both
    def test_a_double_press_is_one_order(self, engine: Engine, desk: Desk) -> None:
        user = desk.user()
        engine.open(desk.session(user, "vip_month")["url"], "methods")
        engine.js(f"const button = document.querySelector('{QR}'); button.click(); button.click()")
        engine.until("qr")
        self.assertEqual([len(order["payments"]) for order in self.orders(desk, user)], [1])
        desk.act(engine.main("payment"), "succeed")
        engine.until("paid")
        self.assertEqual(engine.faults(), [])

    @both
    def test_back_and_reload_make_nothing_new(self, engine: Engine, desk: Desk) -> None:
        user = desk.user()
        engine.open(desk.session(user, "vip_month")["url"], "methods")
        engine.method("sandbox-url")
        engine.wait(lambda: "/sandbox/pay_" in engine.driver.current_url, "the provider's page")
        engine.driver.back()
        engine.until("redirect")
        number, payment = engine.main("order"), engine.main("payment")
        for _ in range(3):
            engine.driver.refresh()
            engine.until("redirect")
        self.assertFalse(eventually(lambda: "/sandbox/" in engine.driver.current_url, 1))
        self.assertEqual([engine.main("order"), engine.main("payment")], [number, payment])
        self.assertEqual([len(order["payments"]) for order in self.orders(desk, user)], [1])
        engine.press('[data-action="go-on"]')
        engine.press('button[value="succeed"]')
        engine.until("paid")
        self.assertEqual(engine.faults(), [])

    @both
    def test_two_tabs_have_one_order(self, engine: Engine, desk: Desk) -> None:
        user = desk.user()
        session = desk.session(user, "vip_month")
        engine.open(session["url"], "methods")
        first = engine.driver.current_window_handle
        # A window: WebKit's driver leaves the other tab of a window in front, and what is hidden asks for nothing.
        engine.driver.switch_to.new_window("window")
        second = engine.driver.current_window_handle
        try:
            engine.open(session["url"], "methods")
            for tab in (first, second):
                engine.driver.switch_to.window(tab)
                # The second may have seen already what the first did.
                engine.js(f"document.querySelector('{QR}')?.click()")
                engine.until("qr")
            self.assertEqual([len(order["payments"]) for order in self.orders(desk, user)], [1])
            desk.act(engine.main("payment"), "succeed")
            for tab in (second, first):
                engine.driver.switch_to.window(tab)
                engine.until("paid")
        finally:
            engine.driver.switch_to.window(second)
            engine.driver.close()
            engine.driver.switch_to.window(first)

    @both
    def test_a_lost_network_is_said_and_survived(self, engine: Engine, desk: Desk) -> None:
        user = desk.user()
        engine.open(desk.session(user, "vip_month")["url"], "methods")
        engine.press(QR)
        engine.until("qr")
        number = engine.main("order")
        engine.js("document.documentElement.dataset.mark = '1'")
        desk.stop()
        try:
            shown = '[data-banner="offline"][role="status"]'
            engine.wait(lambda: [each for each in engine.find(shown) if each.is_displayed()], "the banner", 20)
        finally:
            desk.start()
        engine.wait(lambda: not [each for each in engine.find(shown) if each.is_displayed()], "the banner's end", 20)
        self.assertEqual([engine.main("state"), engine.main("order"), engine.js("return document.documentElement.dataset.mark")], ["qr", number, "1"])
        desk.act(engine.main("payment"), "succeed")
        engine.until("paid")

    @both
    def test_home_makes_a_test_purchase(self, engine: Engine, desk: Desk) -> None:
        engine.open(desk.url + "/?lang=en", "home", ready=False)
        engine.press('form[data-action="test-purchase"] button[type="submit"]')
        engine.wait(lambda: engine.main("session"), "the cashier")
        self.assertEqual(engine.faults(), [])

    def orders(self, desk: Desk, user: str) -> list[dict]:
        return [desk.data("GET", f"/v1/public/orders/{order['id']}", None, user) for order in desk.orders(user)]


class Element(BrowserCase):
    """`<paydesk-checkout>` in a page of another origin."""

    def test_the_element_pays_inside_a_page(self) -> None:
        for make in engines():
            with self.subTest(engine=make.__name__):
                engine, session = make(), desk().session(desk().user(), "vip_month")
                page = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Page</title><h1>Page</h1>
                    <script type="module" src="{desk().url}/sdk/paydesk.js"></script>
                    <script>addEventListener("paydesk-paid", event => {{ window.paid = (window.paid ?? []).concat(event.detail.order.status) }})</script>
                    <paydesk-checkout token="{session['token']}" base-url="{desk().url}" locale="en"></paydesk-checkout>"""
                with Serving(page) as url:
                    engine.faults()
                    engine.driver.get(url)
                    self.inside(engine, "methods")
                    engine.js(f"arguments[0].shadowRoot.querySelector('{QR}').click()", engine.find("paydesk-checkout")[0])
                    self.inside(engine, "qr")
                    desk().act(desk().shown(session)["contract"]["payment_id"], "succeed")
                    self.inside(engine, "paid")
                    self.assertEqual(engine.js("return window.paid"), ["paid"])
                    self.assertEqual(engine.faults(), [])

    @staticmethod
    def inside(engine: Engine, state: str) -> None:
        script = "return document.querySelector('paydesk-checkout').shadowRoot?.querySelector('[data-state]')?.dataset.state"
        engine.wait(lambda: engine.js(script) == state, f"{state} in the element")


class Serving:
    """One page of another origin."""

    def __init__(self, page: str) -> None:
        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path == "/" else 204)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(page.encode() if self.path == "/" else b"")

            def log_message(self, *_: object) -> None:
                """Writes no log."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)

    def __enter__(self) -> str:
        Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}/"

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


class WebShop(BrowserCase):
    """`make webshop`: two pages of another origin."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.ports = free_port(), free_port()
        command = ["sh", str(ROOT / "Examples" / "WebShop" / "run.sh"), desk().binary, *map(str, cls.ports), new_database()]
        cls.shop = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        # Its last line says that all is up.
        lines = iter(cls.shop.stdout.readline, "")
        assert any(line.startswith("Paydesk:") for line in lines), "the shop did not start"
        cls.url = f"http://127.0.0.1:{cls.ports[1]}"

    @classmethod
    def tearDownClass(cls) -> None:
        cls.shop.terminate()
        cls.shop.wait(timeout=30)

    def test_a_page_sells_with_the_module(self) -> None:
        for make in engines():
            with self.subTest(engine=make.__name__):
                engine = make()
                engine.faults()
                engine.driver.get(self.url + "/")
                # This line comes by itself and moves the buttons, which a click would miss then.
                engine.wait(lambda: "You have nothing yet" in engine.js("return document.body.textContent"), "nothing owned")
                engine.press('button[data-sku="vip_month"]')
                engine.press('button[value="succeed"]')
                engine.wait(lambda: "You have VIP" in engine.js("return document.body.textContent"), "what is owned")
                self.assertEqual(urlsplit(engine.driver.current_url).netloc, urlsplit(self.url).netloc)
                # A server without the live stream says 404, and the module asks from time to time instead.
                self.assertEqual([fault for fault in engine.faults() if "/v1/public/stream" not in fault], [])

    def test_a_page_sells_with_a_link(self) -> None:
        for make in engines():
            with self.subTest(engine=make.__name__):
                engine = make()
                engine.faults()
                engine.driver.get(self.url + "/link")
                engine.press("main a")
                engine.until("methods")
                engine.method("sandbox-qr")
                engine.until("qr")
                form = subprocess.run(["curl", "-fs", "-o", "/dev/null", "-d", "outcome=succeed", f"http://127.0.0.1:{self.ports[0]}/sandbox/{engine.main('payment')}"], check=False)
                self.assertEqual(form.returncode, 0)
                engine.until("paid")
                # The page goes back by itself, with the order in the address.
                engine.wait(lambda: "/link?order_id=ord_" in engine.driver.current_url, "the way back", 20)


if __name__ == "__main__":
    unittest.main()
