"""The portal in both engines: receipts, ending and resuming a renewal, another plan, a new payment method, a refused renewal."""

from __future__ import annotations

import os

from desk import Desk, eventually
from engines import PHONE, Engine
from harness import BrowserCase, both, engines
from portal import BACK, Subscriber, club, portal


def section(engine: Engine, state: str) -> None:
    engine.wait(lambda: engine.find(f'section[data-state="{state}"]'), f"the section {state}")


class Portal(BrowserCase):
    @both
    def test_a_receipt_prints_and_leads_back(self, engine: Engine, desk: Desk) -> None:
        held = Subscriber(desk)
        engine.open(portal(desk, held.user)["url"], "overview")
        self.assertEqual(engine.find('[data-action="back"]')[0].get_attribute("href"), BACK)
        engine.press(f'li[data-order="{held.order}"] [data-action="receipt"]')
        engine.until("order")
        text = engine.js("return document.querySelector('[data-field=receipt]').innerText")
        for part in (held.order, "39.90", "Aurora Reading Ltd", "1 Example Road"):
            self.assertIn(part, text)
        engine.js("window.printed = 0; window.print = () => window.printed++")
        engine.press('[data-action="print"]')
        self.assertEqual(engine.js("return window.printed"), 1)
        self.assertIn(held.order, engine.find('main [data-action="support"]')[0].get_attribute("href"))
        engine.press('[data-action="back"]')
        engine.until("overview")
        self.assertEqual(engine.faults(), [])

    @both
    def test_a_renewal_is_ended_after_a_question_and_resumed(self, engine: Engine, desk: Desk) -> None:
        held = Subscriber(desk)
        engine.open(portal(desk, held.user)["url"], "overview")
        engine.press(f'li[data-subscription="{held.id}"] [data-action="cancel-renewal"]')
        engine.until("subscription")
        engine.wait(lambda: engine.find('[data-action="confirm"]'), "the question")
        self.assertTrue(held.found["will_renew"])
        engine.press('[data-action="confirm"]')
        engine.wait(lambda: engine.find('[data-action="resume"]'), "the way back")
        self.assertTrue(held.found["cancel_at_period_end"])
        engine.press('[data-action="resume"]')
        engine.wait(lambda: engine.find('[data-action="cancel-renewal"]'), "the renewal")
        self.assertTrue(held.found["will_renew"])
        self.assertEqual(engine.faults(), [])

    @both
    def test_another_plan_has_a_preview_and_is_taken_back(self, engine: Engine, desk: Desk) -> None:
        held = Subscriber(desk)
        session = portal(desk, held.user)
        engine.open(session["url"], "overview")
        engine.open(f"{desk.url}/portal/s/{session['id']}/subscriptions/{held.id}", "subscription")
        engine.press('[data-action="change-plan"]')
        engine.wait(lambda: engine.find('li[data-sku="club_year"]'), "the plans")
        engine.press('li[data-sku="club_year"] [data-action="choose-plan"]')
        engine.wait(lambda: engine.find('[data-action="confirm"]'), "the preview")
        self.assertIn("399.00", engine.js("return document.querySelector('main').innerText"))
        self.assertIsNone(held.found["change_to"])
        engine.press('[data-action="confirm"]')
        engine.wait(lambda: engine.find('[data-action="keep-plan"]'), "the change")
        self.assertEqual(held.found["change_to"], "club_year")
        engine.press('[data-action="keep-plan"]')
        self.assertTrue(eventually(lambda: held.found["change_to"] is None))
        self.assertEqual(engine.faults(), [])

    @both
    def test_a_new_payment_method_goes_through_the_provider(self, engine: Engine, desk: Desk) -> None:
        held = Subscriber(desk)
        engine.open(portal(desk, held.user)["url"], "overview")
        engine.press(f'li[data-subscription="{held.id}"] [data-action="new-card"]')
        engine.until("card")
        section(engine, "methods")
        engine.method("sandbox-url")
        section(engine, "redirect")
        engine.press('section [data-action="go-on"]')
        engine.press('button[value="succeed"]')
        section(engine, "paid")
        self.assertEqual(len(held.found["orders"]), 1)
        self.assertEqual(engine.faults(), [])

    @both
    def test_a_page_that_waits_follows_by_itself(self, engine: Engine, desk: Desk) -> None:
        held = Subscriber(desk)
        session = portal(desk, held.user)
        contract = held.replace(session)
        engine.open(session["url"], "overview")
        engine.open(f"{desk.url}/portal/s/{session['id']}/subscriptions/{held.id}/card", "card")
        section(engine, "redirect")
        desk.call("POST", f"/sandbox/{contract['setup_id']}", "outcome=succeed&terms=accepted", kind="application/x-www-form-urlencoded")
        section(engine, "paid")

    @both
    def test_the_language_stays_on_every_page(self, engine: Engine, desk: Desk) -> None:
        held = Subscriber(desk)
        session = portal(desk, held.user, locale="en")
        engine.open(session["url"], "overview")
        engine.press('[data-action="language"][data-lang="zh-Hans"]')
        engine.wait(lambda: engine.js("return document.documentElement.lang") == "zh-Hans", "the language")
        engine.open(f"{desk.url}/portal/s/{session['id']}/subscriptions/{held.id}", "subscription")
        self.assertIn("会员", engine.js("return document.querySelector('h1').textContent"))

    @both
    def test_long_names_stay_within_a_phone(self, engine: Engine, desk: Desk) -> None:
        user = desk.user()
        name = "AnnualProfessionalPlusMembershipWithPriorityDownloadsAndMore"
        sku = {"id": "long_name", "name": name, "kind": "non_consumable", "tier": "", "prices": [{"currency": "CNY", "value": 123456789}]}
        if desk.call("GET", "/v1/admin/skus/long_name", None, desk.admin)[0] == 404:
            desk.data("POST", "/v1/admin/skus", sku, desk.admin)
        desk.data("POST", f"/v1/admin/users/user-{desk.users}/grants", {"sku": "long_name", "reason": "a gift"}, desk.admin)
        contract = desk.buy(desk.session(user, "vip_month"), provider="sandbox-url")
        desk.act(contract["payment_id"], "succeed")
        engine.resize(*PHONE)
        engine.open(portal(desk, user)["url"], "overview")
        self.assertIn(name, engine.js("return document.querySelector('main').textContent"))
        self.assertLessEqual(engine.overflow(), 0)


class RefusedRenewal(BrowserCase):
    """A month later; on a server of its own, since its clock is moved."""

    def test_it_is_paid_here(self) -> None:
        own = Desk(os.environ["PAYDESK"])
        try:
            club(own)
            refused = {engine.name: (engine, Subscriber(own)) for engine in [make() for make in engines()]}
            for _, held in refused.values():
                status, text = own.call("POST", f"/sandbox/mandates/{held.id}", "renewals=action_required", kind="application/x-www-form-urlencoded")
                assert status in (200, 303), text[:400]
            own.data("POST", "/v1/admin/clock", {"advance_seconds": 32 * 86400}, own.admin)
            for name, (engine, held) in refused.items():
                with self.subTest(engine=name):
                    self.assertIn(held.found["status"], ("in_grace_period", "in_billing_retry"))
                    engine.open(portal(own, held.user)["url"], "overview")
                    engine.press(f'li[data-subscription="{held.id}"] [data-action="pay"]')
                    engine.until("card")
                    engine.method("sandbox-url")
                    engine.press('section [data-action="go-on"]')
                    engine.press('button[value="succeed"]')
                    section(engine, "paid")
                    self.assertTrue(eventually(lambda held=held: held.found["status"] == "active"))
                    engine.open(portal(own, held.user)["url"], "overview")
                    self.assertEqual(engine.find('[data-action="pay"]'), [])
        finally:
            own.close()
