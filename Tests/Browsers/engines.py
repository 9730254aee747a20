"""Two browser engines behind one small interface: Chromium, and WebKitGTK's MiniBrowser. The pages' own policy stays on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ports import free_port
from selenium import webdriver
from selenium.webdriver.common.by import By

AXE = Path(next(iter(find_spec("axe_playwright_python").submodule_search_locations))) / "axe.min.js"
RUN_AXE = "axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify(r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ')).join(', '))))"
PHONE, DESKTOP = (360, 740), (1280, 900)


class Engine:
    """What the tests need of a browser; `name` says which one."""

    name = ""
    driver: Any

    def open(self, url: str, state: str = "", ready: bool = True) -> None:
        self.driver.get(url)
        if state:
            self.until(state, ready)

    def until(self, state: str, ready: bool = True, seconds: float = 15) -> None:
        """Waits for the state of the page, and until its module has taken over."""
        own = "html[data-ready] " if ready else ""
        self.wait(lambda: self.find(f'{own}main[data-state="{state}"]'), f"{state}; it is {self.main('state')} ({self.main('reason')})", seconds)

    def wait(self, check: Any, what: str, seconds: float = 15) -> Any:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                found = check()
                if found:
                    return found
            except Exception as error:  # a document that goes away while it is read
                if "stale" not in str(error).lower() and "no such" not in str(error).lower():
                    raise
            time.sleep(0.05)
        raise AssertionError(f"{self.name}: not within {seconds} s: {what}, at {self.driver.current_url}")

    def find(self, selector: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def main(self, name: str) -> str | None:
        return self.js("const m = document.querySelector('main'); return m && m.getAttribute(arguments[0])", f"data-{name}")

    def js(self, text: str, *arguments: Any) -> Any:
        return self.driver.execute_script(text, *arguments)

    def press(self, selector: str) -> None:
        self.click(self.wait(lambda: [each for each in self.find(selector) if each.is_displayed()], selector)[0])

    def click(self, element: Any) -> None:
        """Clicks what may stand behind a bar that stays in place while the page scrolls."""
        self.js("arguments[0].scrollIntoView({block: 'nearest', behavior: 'instant'})", element)
        element.click()

    def method(self, account: str) -> None:
        self.press(f'[data-action="method"][data-account="{account}"]')

    def overflow(self) -> int:
        """CSS pixels by which the document is wider than its window."""
        return self.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def shot(self, path: Path) -> None:
        self.driver.save_screenshot(str(path))

    def close(self) -> None:
        self.driver.quit()


class Chromium(Engine):
    name = "chromium"

    def __init__(self, dark: bool = False) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        for argument in ["--headless=new", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars", "--disable-background-networking", "--disable-features=Translate,OptimizationHints,MediaRouter", *(["--no-sandbox"] if os.geteuid() == 0 else [])]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver"), port=free_port()))
        self.theme(dark)
        self.resize(*DESKTOP)

    def cdp(self, command: str, **values: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, values)

    def theme(self, dark: bool) -> None:
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}, {"name": "prefers-reduced-motion", "value": "reduce"}]
        self.cdp("Emulation.setEmulatedMedia", features=features)

    def resize(self, width: int, height: int) -> None:
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def speak(self, language: str) -> None:
        """Sets Accept-Language."""
        agent = self.js("return navigator.userAgent")
        self.cdp("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=language)

    def whole(self, path: Path) -> None:
        """A picture of the whole page."""
        import base64

        picture = self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip={**self.size(), "x": 0, "y": 0, "scale": 1})
        path.write_bytes(base64.b64decode(picture["data"]))

    def size(self) -> dict[str, float]:
        size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
        return {"width": size["width"], "height": size["height"]}

    def axe(self) -> list[str]:
        """axe's violations, found in an isolated world, so that the page's policy stays as it is."""
        frame = self.cdp("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = self.cdp("Page.createIsolatedWorld", frameId=frame, worldName="axe")["executionContextId"]
        answer = self.cdp("Runtime.evaluate", contextId=world, expression=AXE.read_text() + ";" + RUN_AXE, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return json.loads(answer["result"]["value"])

    def faults(self) -> list[str]:
        """Errors of the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


class WebKit(Engine):
    name = "webkit"
    #: The least width of a window with the browser's own bar; one that a page opens has none.
    least = 447
    #: The windows that are narrower than that and wider.
    narrow: str | None = None
    broad = ""
    display: subprocess.Popen[bytes] | None = None

    def __init__(self, dark: bool = False) -> None:
        from selenium.webdriver.webkitgtk.service import Service

        options = webdriver.WebKitGTKOptions()
        options.binary_location = os.environ.get("MINIBROWSER") or str(next(Path("/usr/lib").glob("*/webkit2gtk-4*/MiniBrowser")))
        options.add_argument("--automation")
        options.add_argument("--enable-write-console-messages-to-stdout=true")
        options.add_argument("--javascript-can-open-windows-automatically=true")
        self.log = Path(tempfile.mkstemp(prefix="webkit-", suffix=".log")[1])
        self.read = 0
        if "DISPLAY" not in os.environ:
            WebKit.show()
        theme = "Adwaita:dark" if dark else "Adwaita"
        environment = {**os.environ, "GTK_THEME": theme, "LANG": "C.UTF-8", "LANGUAGE": "en", "WEBKIT_DISABLE_DMABUF_RENDERER": "1", "LIBGL_ALWAYS_SOFTWARE": "1"}
        if os.geteuid() == 0:
            environment["WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS"] = "1"
        service = Service(os.environ.get("WEBKITDRIVER", "/usr/bin/WebKitWebDriver"), port=free_port(), log_output=str(self.log), env=environment)
        self.driver = webdriver.WebKitGTK(options=options, service=service)

    @classmethod
    def show(cls) -> None:
        """Starts a display without a screen."""
        reader, writer = os.pipe()
        cls.display = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", "1600x1200x24", "-nolisten", "tcp"], pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as number:
            os.environ["DISPLAY"] = ":" + number.readline().strip()

    @classmethod
    def hide(cls) -> None:
        if cls.display:
            cls.display.terminate()
            cls.display.wait(timeout=10)
            cls.display = None

    def resize(self, width: int, height: int) -> None:
        """Gives the window a size; a narrow one is another window, which shares the cookies."""
        driver = self.driver
        if self.narrow is None:
            self.broad = driver.current_window_handle
        if width >= self.least:
            driver.switch_to.window(self.broad)
            # The window's bar takes some of its height.
            return driver.set_window_size(width, height + 60)
        if self.narrow is None:
            before = set(driver.window_handles)
            self.js("window.open('about:blank', '', `popup,width=${arguments[0]},height=${arguments[1]}`)", width, height)
            self.narrow = self.wait(lambda: set(driver.window_handles) - before, "the narrow window").pop()
        driver.switch_to.window(self.narrow)
        driver.set_window_size(width, height)
        self.wait(lambda: self.js("return innerWidth") == width, f"a width of {width}")

    def axe(self) -> list[str]:
        self.js(AXE.read_text() + "; window.axe = axe;")
        return json.loads(self.driver.execute_async_script("const done = arguments[0]; " + RUN_AXE + ".then(done, error => done(JSON.stringify([String(error)])))"))

    def faults(self) -> list[str]:
        with self.log.open(encoding="utf-8", errors="replace") as log:
            log.seek(self.read)
            text = log.read()
            self.read = log.tell()
        return [line for line in text.splitlines() if re.match(r"CONSOLE (?:\S+ )?(?:ERROR|WARN)", line)]

    def close(self) -> None:
        super().close()
        self.log.unlink(missing_ok=True)
