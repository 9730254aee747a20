"""The documentation: some of its pages in both languages, light and dark, at 360 and 1,280 pixels, and the search in the page."""

from __future__ import annotations

from engines import DESKTOP, PHONE, Chromium, Engine
from harness import BrowserCase, chromium, desk, engines, looks_in, webkit
from markup import faults

#: Pages of every kind: the first one, guides with lists, tables, pictures and code, the calls of a part, errors, shapes.
PAGES = ["", "/overview", "/ios", "/domain", "/console", "/reference", "/reference-webhooks", "/errors", "/shapes"]
LANGUAGES = ["en", "zh-Hans"]


class Documentation(BrowserCase):
    @looks_in("chromium")
    def test_pages_in_chromium(self) -> None:
        for page in PAGES:
            for locale in LANGUAGES:
                self.look(chromium(), f"/docs/{locale}{page}", locale, [(DESKTOP, False), (PHONE, True)], [(DESKTOP, True), (PHONE, False)])

    @looks_in("webkit")
    def test_pages_in_webkit(self) -> None:
        for dark, locale, size in [(False, "en", DESKTOP), (True, "zh-Hans", PHONE)]:
            for page in ["", "/overview", "/reference-webhooks"]:
                self.look(webkit(dark), f"/docs/{locale}{page}", locale, [(size, dark)], [])

    def look(self, engine: Engine, path: str, locale: str, looks: list, sizes: list) -> None:
        with self.subTest(engine=engine.name, path=path):
            engine.faults()
            # A narrow window may be another one.
            engine.resize(*looks[0][0])
            engine.open(desk().url + path)
            found = [f"HTML, {fault}" for fault in faults(desk().document(desk().url + path, "", locale))]
            if engine.js("return document.documentElement.lang") != locale or len(engine.find("main h1")) != 1:
                found.append("not one title in the page's language")
            for (size, dark), runs_axe in [(each, True) for each in looks] + [(each, False) for each in sizes]:
                engine.resize(*size)
                if isinstance(engine, Chromium):
                    engine.theme(dark)
                found += [f"{size} dark={dark}: {fault}" for fault in (engine.axe() if runs_axe else [])]
                if engine.overflow() > 0:
                    found.append(f"{size}: {engine.overflow()} px too wide")
            self.assertEqual(found + engine.faults(), [])

    def test_the_search_finds_without_a_server(self) -> None:
        for engine in [make() for make in engines()]:
            with self.subTest(engine=engine.name):
                engine.resize(*DESKTOP)
                engine.faults()
                engine.open(desk().url + "/docs/en/overview")
                field = engine.wait(lambda: [each for each in engine.find("[data-search] input") if each.is_displayed()], "the field")[0]
                field.click()
                field.send_keys("order_not_found")
                engine.wait(lambda: engine.find("[data-field=results] li a"), "something found")
                self.assertIn("/errors#order_not_found", engine.find("[data-field=results] a")[0].get_attribute("href"))
                self.assertIn("found", engine.find("[data-field=status]")[0].get_attribute("textContent"))
                self.assertEqual(engine.axe(), [])
                field.send_keys("\ue00c")  # Escape
                self.assertFalse(engine.find("[data-field=results]")[0].is_displayed())
                field.clear()
                field.send_keys("xyzzy")
                engine.wait(lambda: "Nothing found" in engine.find("[data-field=status]")[0].text, "that nothing was found")
                field.clear()
                field.send_keys("checkout\ue015")  # the arrow that goes down
                self.assertEqual(engine.js("return document.activeElement.closest('[data-field=results]') !== null"), True)
                # The policy of the page let the index in, and nothing else was tried.
                self.assertEqual(engine.faults(), [])
                engine.js("document.activeElement.click()")
                engine.wait(lambda: "/docs/en/" in engine.driver.current_url and "overview" not in engine.driver.current_url, "the page that was found")

    def test_the_contents_open_on_a_phone(self) -> None:
        for engine in [make() for make in engines()]:
            with self.subTest(engine=engine.name):
                engine.resize(*PHONE)
                engine.open(desk().url + "/docs/en/reference-cashier")
                self.assertFalse(engine.find("#d-rail")[0].is_displayed())
                engine.press("[popovertarget=d-rail]")
                engine.wait(lambda: engine.find("#d-rail")[0].is_displayed(), "the contents")
                self.assertEqual(engine.axe(), [])
                # The calls of the page, each with its method and path.
                self.assertIn("POST /v1/public/checkout", [each.text for each in engine.find("#d-rail .parts a")])
                engine.press('#d-rail a[href="#openCheckout"]')
                engine.wait(lambda: not engine.find("#d-rail")[0].is_displayed(), "the contents closed")
                self.assertTrue(engine.driver.current_url.endswith("#openCheckout"))
