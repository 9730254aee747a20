"""What the tests share: one server, and one browser of each kind, closed when Python ends."""

from __future__ import annotations

import atexit
import os
import unittest
from functools import cache

from desk import Desk
from engines import Chromium, WebKit


@cache
def desk() -> Desk:
    made = Desk(os.environ["PAYDESK"])
    atexit.register(made.close)
    return made


@cache
def chromium() -> Chromium:
    made = Chromium()
    atexit.register(made.close)
    return made


@cache
def webkit(dark: bool = False) -> WebKit:
    made = WebKit(dark)
    atexit.register(made.close)
    return made


atexit.register(WebKit.hide)


class BrowserCase(unittest.TestCase):
    maxDiff = None
