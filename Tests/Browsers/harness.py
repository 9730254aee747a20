"""What the tests share: one server on the database of the run, and one browser of each kind, closed when Python ends."""

from __future__ import annotations

import atexit
import os
import signal
import unittest
from functools import cache
from typing import Any, Callable

from cluster import Cluster
from desk import Desk
from engines import DESKTOP, Chromium, Engine, WebKit


#: The kind of database of this run.
DATABASE = os.environ.get("BROWSERS_ENGINE") or "sqlite"

# A run that is stopped closes what it has started, too.
signal.signal(signal.SIGTERM, signal.default_int_handler)


@cache
def cluster() -> Cluster:
    made = Cluster()
    atexit.register(made.close)
    return made


def new_database() -> str:
    """The address of a new database of the run's kind; empty for the file that the shipped settings name."""
    return cluster().database() if DATABASE == "postgres" else ""


@cache
def desk() -> Desk:
    made = Desk(os.environ["PAYDESK"], new_database())
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


#: With BROWSERS_SHARED=true the run on SQLite is in Chromium and that on PostgreSQL in WebKit, so that each test runs once
#: in each browser and once on each database.
SHARED = os.environ.get("BROWSERS_SHARED") == "true"


def engines() -> list[Callable[[], Engine]]:
    """The browsers of this run."""
    if not SHARED:
        return [chromium, webkit]
    return [chromium] if DATABASE == "sqlite" else [webkit]


def looks_in(browser: str) -> Any:
    """Marks a test that looks at every page in one browser."""
    return unittest.skipIf(browser not in [make.__name__ for make in engines()], f"another run looks in {browser}")


class BrowserCase(unittest.TestCase):
    maxDiff = None


def both(test):
    """Runs a test in each engine of the run."""

    def run(self: BrowserCase) -> None:
        for make in engines():
            with self.subTest(engine=make.__name__):
                engine = make()
                engine.resize(*DESKTOP)
                # The last test's page goes on asking a server that has ended.
                engine.open("about:blank")
                engine.faults()
                test(self, engine, desk())

    run.__doc__ = test.__doc__
    return run
