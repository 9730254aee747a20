"""The console in either engine, used by its hooks as a person uses it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from desk import Desk
from engines import Engine
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

#: The screens of the navigation.
SCREENS = ["home", "orders", "people", "catalogue", "accounts", "notifications", "webhooks", "jobs", "keys", "audit"]


class Console:
    """The tab of an engine that shows the console."""

    def __init__(self, engine: Engine, desk: Desk) -> None:
        self.engine, self.desk = engine, desk
        self.last = ""

    def enter(self, key: str, address: str = "#/home", screen: str = "home", language: str = "en") -> Console:
        """Opens the page anew and signs in with a key; whoever was signed in goes first."""
        self.load(address)
        if self.at("sign-in") is False:
            self.engine.press('[data-action="sign-out"]')
            self.until("sign-in")
        if self.engine.js("return document.documentElement.lang") != language:
            self.engine.press('[data-action="language"]')
            self.engine.wait(lambda: self.engine.js("return document.documentElement.lang") == language, language)
        return self.sign_in(key).go(address, screen)

    def load(self, address: str = "") -> Console:
        # A change of the fragment alone would load nothing.
        self.engine.driver.get("about:blank")
        self.engine.driver.get(f"{self.desk.url}/console{address}")
        self.engine.wait(lambda: self.engine.find('html[data-ready] main[aria-busy="false"]'), "the console")
        return self

    def sign_in(self, key: str) -> Console:
        self.type('input[name="key"]', key)
        self.engine.press('[data-action="sign-in"]')
        self.engine.wait(lambda: not self.engine.find('main[data-screen="sign-in"]') and self.engine.find('main[aria-busy="false"]'), "signed in")
        return self

    def at(self, screen: str) -> bool:
        return bool(self.engine.find(f'main[data-screen="{screen}"][aria-busy="false"]'))

    def until(self, screen: str) -> Console:
        self.engine.wait(lambda: self.at(screen), f"{screen}; it is {self.engine.main('screen')}")
        return self

    def go(self, address: str, screen: str) -> Console:
        self.engine.js("location.hash = arguments[0]", address)
        self.engine.wait(lambda: self.engine.js("return location.hash") == address and self.at(screen), f"{address}; it is {self.engine.main('screen')}")
        return self

    # Lists and forms

    def rows(self, name: str) -> list[str]:
        return self.engine.js("return Array.from(document.querySelectorAll(`table[data-list='${arguments[0]}'] tr[data-id]`), row => row.dataset.id)", name)

    def actions(self) -> set[str]:
        return set(self.engine.js("return Array.from(document.querySelectorAll('[data-action]'), each => each.dataset.action)"))

    def type(self, selector: str, text: str) -> None:
        found = self.engine.wait(lambda: [each for each in self.engine.find(selector) if each.is_displayed()], selector)[0]
        found.clear()
        found.send_keys(text)

    def fill(self, name: str, value: Any, within: str = "dialog[open]") -> None:
        """Fills a field by its name; a list of values ticks its boxes."""
        fields = self.engine.wait(lambda: self.engine.find(f'{within} [name="{name}"]'), name)
        if fields[0].tag_name == "select":
            Select(fields[0]).select_by_value(value)
        elif fields[0].get_attribute("type") == "checkbox":
            for each in fields:
                if (each.get_attribute("value") in value) is not each.is_selected():
                    self.engine.click(each)
        else:
            self.type(f'{within} [name="{name}"]', str(value))

    # Acts

    def open(self, action: str, within: str = "main") -> None:
        """Opens the dialog of an act."""
        self.engine.press(f'{within} [data-action="{action}"]')
        self.engine.wait(lambda: self.engine.find(f'dialog[data-dialog="{action}"][open]'), f"the dialog {action}")

    def confirm(self) -> None:
        self.engine.press('dialog[open] [data-action="confirm"]')

    def close(self) -> None:
        self.engine.press('dialog[open] [data-action="cancel"]')
        self.engine.wait(lambda: not self.engine.find("dialog[open]"), "no dialog")

    def outcome(self) -> tuple[str, str | None]:
        """The newest outcome: `ok` or `error`, and the error."""
        script = "return Array.from(document.querySelectorAll('[role=status][data-result]'), each => [each.dataset.requestId, each.dataset.result, each.dataset.error ?? null])"

        def found() -> list | None:
            return next((each for each in self.engine.js(script) if each[0] != self.last or each[2] == "network"), None)

        request, result, error = self.engine.wait(found, "the outcome of the act")
        self.last = request
        return result, error

    def act(self, action: str, within: str = "main", **fields: Any) -> tuple[str, str | None]:
        self.open(action, within)
        for name, value in fields.items():
            self.fill(name, value)
        self.confirm()
        return self.outcome()

    def secret(self) -> str:
        return self.engine.wait(lambda: self.engine.find("output[data-secret]"), "the secret")[0].text.strip()

    # Looks

    def widest(self) -> list[str]:
        """Elements that stand out of the window; what scrolls in a box of its own does not count."""
        return self.engine.js("""
            const scrolls = e => { for (let p = e.parentElement; p; p = p.parentElement) if (["auto", "scroll", "hidden"].includes(getComputedStyle(p).overflowX)) return true; return false; };
            return Array.from(document.querySelectorAll("body *")).filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e)).slice(0, 5).map(e => e.tagName + "." + e.className);""")

    def focused(self, selector: str) -> bool:
        return self.engine.js("return !!document.activeElement && document.activeElement.matches(arguments[0])", selector)

    def tab_to(self, selector: str, presses: int = 90) -> None:
        """Presses Tab until an element has the focus, which must be seen."""
        for _ in range(presses):
            if self.focused(selector):
                break
            self.engine.driver.switch_to.active_element.send_keys(Keys.TAB)
        assert self.focused(selector), f"Tab does not reach {selector}"
        # A field with a sign before it shows its focus around both.
        rings = self.engine.js("""return [document.activeElement, document.activeElement.closest(".affix")].filter(Boolean).map(e => getComputedStyle(e))
            .some(s => parseFloat(s.outlineWidth) >= 2 && s.outlineStyle !== "none" || s.boxShadow !== "none")""")
        assert rings, f"{selector} does not show its focus"

    def key(self, key: str) -> None:
        self.engine.driver.switch_to.active_element.send_keys(key)


def person(user: str) -> str:
    return "#/people/" + quote(user, safe="")
