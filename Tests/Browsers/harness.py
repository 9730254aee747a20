"""What the tests share: one server on the database of the run, and one browser of each kind, closed when Python ends."""

from __future__ import annotations

import atexit
import os
import signal
import unittest
from functools import cache

from cluster import Cluster
from desk import Desk
from engines import Chromium, WebKit


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


class BrowserCase(unittest.TestCase):
    maxDiff = None
