"""Every page in both languages, light and dark, at 360 and 1,280 pixels: no fault of its HTML, nothing that axe finds, nothing
too wide, nothing in the console."""

from __future__ import annotations

import re

from engines import DESKTOP, PHONE, Chromium, Engine
from harness import BrowserCase, chromium, desk, engines, looks_in, webkit
from markup import faults
from states import OTHERS, SESSIONS, Page, make

LANGUAGES = ["en", "zh-Hans"]
#: Pages that are the same for everybody.
DOCUMENTS = ["/", "/console", "/dev/appstore", "/docs", "/docs/en/domain", "/docs/en/reference-cashier"]


class Pages(BrowserCase):
    @looks_in("chromium")
    def test_every_page_in_chromium(self) -> None:
        engine = chromium()
        for name in SESSIONS + OTHERS:
            for locale in LANGUAGES:
                engine.speak(locale)
                self.look(engine, name, locale, [(DESKTOP, False), (PHONE, True)], [(DESKTOP, True), (PHONE, False)])

    @looks_in("webkit")
    def test_every_page_in_webkit(self) -> None:
        # The browser's own language and its theme are set when it starts.
        for dark, locale, size in [(False, "en", DESKTOP), (True, "zh-Hans", PHONE)]:
            engine = webkit(dark)
            for name in SESSIONS + (OTHERS if locale == "en" else ["home", "sandbox"]):
                self.look(engine, name, locale, [(size, dark)], [])

    def look(self, engine: Engine, name: str, locale: str, looks: list, sizes: list) -> None:
        """Opens a page once and looks at it in several sizes and themes; axe runs in those of `looks`."""
        page = make(desk(), name, locale)
        with self.subTest(engine=engine.name, page=name, locale=locale):
            engine.faults()
            # A narrow window may be another one.
            engine.resize(*looks[0][0])
            page.open(engine)
            found = self.words(engine, locale) + self.markup(engine, page, locale)
            for (size, dark), runs_axe in [(each, True) for each in looks] + [(each, False) for each in sizes]:
                engine.resize(*size)
                if isinstance(engine, Chromium):
                    engine.theme(dark)
                found += [f"{size} dark={dark}: {fault}" for fault in (engine.axe() if runs_axe else [])]
                if engine.overflow() > 0:
                    found.append(f"{size}: {engine.overflow()} px too wide")
            found += self.console(engine, page)
            self.assertEqual(found, [])

    def test_every_document_is_right(self) -> None:
        for make_engine in engines():
            for path in DOCUMENTS:
                for locale in LANGUAGES:
                    with self.subTest(engine=make_engine.__name__, path=path, locale=locale):
                        agent = make_engine().js("return navigator.userAgent")
                        self.assertEqual(faults(desk().document(desk().url + path, agent, locale)), [])

    @staticmethod
    def markup(engine: Engine, page: Page, locale: str) -> list[str]:
        """Faults of the HTML that the server sends to such a browser for the page."""
        html = desk().document(page.url, engine.js("return navigator.userAgent"), locale, page.enter)
        other = [] if f'data-state="{page.state}"' in html else [f"the server sends another page than {page.state}"]
        return other + [f"HTML, {fault}" for fault in faults(html)]

    @staticmethod
    def words(engine: Engine, locale: str) -> list[str]:
        """Faults of the document: its language, one `main`, one title in that language."""
        found = []
        if engine.js("return document.documentElement.lang") != locale:
            found.append(f"lang is {engine.js('return document.documentElement.lang')}")
        if len(engine.find("main")) != 1 or len(engine.find("main h1")) != 1:
            found.append("not one main with one h1")
        title = engine.js("return document.querySelector('main h1').textContent")
        if bool(re.search("[\u4e00-\u9fff]", title)) is not (locale == "zh-Hans"):
            found.append(f"the title is {title}")
        return found

    @staticmethod
    def console(engine: Engine, page: Page) -> list[str]:
        return [fault for fault in engine.faults() if not (page.refused and re.search("Failed to load resource|status of 4(04|10)", fault))]
