"""The cashier inside WeChat, played in Chromium: its browser's name, its bridge, and a stand-in of its servers."""

from __future__ import annotations

import os
import time
import unittest

from desk import Desk, eventually
from engines import DESKTOP, PHONE, Chromium
from harness import BrowserCase, chromium, new_database
from markup import faults
from weixin import AGENT, OFFICE, OPENID, WeChat

#: What WeChat puts into each page. `told` is what it says, or null for nothing.
BRIDGE = """
window.asked = []; window.told = sessionStorage.told ?? null;
window.WeixinJSBridge = { invoke: (name, request, answer) => { window.asked.push([name, request]); if (window.told) setTimeout(answer, 20, { err_msg: 'get_brand_wcpay_request:' + window.told }); } };
"""
PAY = '[data-action="wechat-pay"]'


class InWeChat(BrowserCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.wechat = WeChat()
        cls.desk = Desk(os.environ["PAYDESK"], new_database(), {"wechat": cls.wechat.account()})
        cls.engine = chromium()
        cls.engine.resize(*PHONE)
        cls.script = cls.engine.cdp("Page.addScriptToEvaluateOnNewDocument", source=BRIDGE)["identifier"]
        cls.plain = cls.engine.js("return navigator.userAgent")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.engine.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=cls.script)
        cls.engine.cdp("Emulation.setUserAgentOverride", userAgent=cls.plain)
        cls.engine.resize(*DESKTOP)
        cls.desk.close()
        cls.wechat.close()

    def setUp(self) -> None:
        self.wechat.agrees, self.wechat.openid = True, OPENID
        self.be(AGENT)
        self.engine.faults()

    def be(self, agent: str, language: str = "en") -> None:
        self.engine.cdp("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=language)

    def say(self, word: str | None) -> None:
        """Has WeChat's sheet say this from now on."""
        self.engine.js("window.told = arguments[0]", word)

    def test_a_payer_pays_in_wechats_sheet(self) -> None:
        for locale in ("en", "zh-Hans"):
            with self.subTest(locale=locale):
                session = self.desk.session(self.desk.user(), "vip_month", locale=locale)
                # The page presses WeChat's own way by itself.
                self.engine.open(session["url"], "wechat_jsapi")
                self.assertEqual(self.wechat.sent[-1]["redirect_uri"], f"{self.desk.url}/pay/s/{session['id']}/wechat")
                self.assertEqual(self.engine.driver.current_url, f"{self.desk.url}/pay/s/{session['id']}")
                self.assertEqual(self.engine.axe(), [])
                self.assertLessEqual(self.engine.overflow(), 0)
                self.say("ok")
                self.engine.press(PAY)
                self.engine.until("checking")
                name, request = self.engine.js("return window.asked[0]")
                self.assertEqual((name, request["appId"], sorted(request)), ("getBrandWCPayRequest", OFFICE, ["appId", "nonceStr", "package", "paySign", "signType", "timeStamp"]))
                # What the sheet says proves nothing.
                self.assertEqual(self.desk.shown(session)["order"]["status"], "open")
                self.wechat.pay(self.desk.shown(session)["contract"]["payment_id"])
                self.assertTrue(eventually(lambda: self.refreshed(session) == "paid", 30))
                self.engine.until("paid")
                self.assertEqual(self.engine.faults(), [])
                self.assertNotIn(OPENID, self.engine.driver.page_source)
                self.assertNotIn(OPENID, (self.desk.home / "server.log").read_text(errors="replace"))

    def refreshed(self, session: dict) -> str:
        """The order's status after WeChat was asked, which happens at most once in 5 s."""
        time.sleep(1)
        order = self.desk.shown(session)["order"]
        self.desk.call("POST", f"/v1/public/orders/{order['id']}/refresh", {}, session["token"])
        return self.desk.shown(session)["order"]["status"]

    def test_a_sheet_that_is_closed_or_fails_is_said(self) -> None:
        session = self.desk.session(self.desk.user(), "vip_month")
        self.engine.open(session["url"], "wechat_jsapi")
        for word, reason in [("cancel", "cancelled"), ("fail", "failed")]:
            self.say(word)
            self.engine.press(PAY)
            self.engine.wait(lambda reason=reason: self.engine.find(f'[data-field="error"][data-reason="{reason}"]'), reason)
            self.assertEqual(self.engine.main("state"), "wechat_jsapi")
        self.assertEqual(len(self.desk.shown(session)["order"]["payments"]), 1)
        # Back, reload: never sent off again, never a second order.
        sent = len(self.wechat.sent)
        self.engine.driver.refresh()
        self.engine.until("wechat_jsapi")
        self.assertEqual((len(self.wechat.sent), len(self.desk.shown(session)["order"]["payments"])), (sent, 1))
        self.engine.press('[data-action="other-method"]')
        self.engine.until("methods")
        self.assertEqual(self.engine.faults(), [])

    def test_a_sheet_that_says_nothing_ends_with_the_payment(self) -> None:
        session = self.desk.session(self.desk.user(), "vip_month")
        self.engine.open(session["url"], "wechat_jsapi")
        self.say(None)
        self.engine.press(PAY)
        self.wechat.pay(self.desk.shown(session)["contract"]["payment_id"])
        self.assertTrue(eventually(lambda: self.refreshed(session) == "paid", 30))
        self.engine.until("paid")

    def test_without_the_payers_name_it_is_another_browser(self) -> None:
        for way in ("refused", "unknown"):
            with self.subTest(way=way):
                self.wechat.agrees = way != "refused"
                self.wechat.openid = OPENID if self.wechat.agrees and way != "unknown" else None
                session = self.desk.session(self.desk.user(), "vip_month")
                self.engine.open(session["url"], "methods")
                self.assertTrue(self.engine.find('[data-note="in_wechat"]'))
                self.assertEqual(self.engine.find('[data-account="wechat"]'), [])
                self.assertIsNone(self.desk.shown(session)["order"])
                self.assertEqual(self.engine.axe(), [])

    def test_an_answer_of_another_session_says_what_to_do(self) -> None:
        session = self.desk.session(self.desk.user(), "vip_month")
        self.engine.open(session["url"], "wechat_jsapi")
        exchanged = len(self.wechat.exchanged)
        self.engine.driver.get(f"{self.desk.url}/pay/s/{session['id']}/wechat?code=x&state=foreign")
        self.engine.wait(lambda: self.engine.find('html[data-ready] [data-field="error"][data-reason="authorisation"]'), "the alert")
        self.assertEqual(len(self.wechat.exchanged), exchanged)
        self.assertEqual(self.engine.driver.current_url, f"{self.desk.url}/pay/s/{session['id']}")
        self.assertEqual(self.engine.axe(), [])

    def test_another_browser_goes_on(self) -> None:
        session = self.desk.session(self.desk.user(), "vip_month")
        self.engine.open(session["url"], "wechat_jsapi")
        for agent in (f"{AGENT} miniProgram/wx0000000000000001", self.plain):
            self.be(agent)
            self.engine.open(session["url"], "wechat_jsapi")
            self.assertEqual(self.engine.find(PAY), [])
            self.assertEqual(faults(self.desk.document(session["url"], agent, "en")), [])
        self.engine.press('[data-action="other-method"]')
        self.engine.until("methods")
        self.engine.method("sandbox-qr")
        self.engine.until("qr")


if __name__ == "__main__":
    unittest.main()
