"""Runs the tests on SQLite and on PostgreSQL beside each other, and shows the output of both.

usage: beside.py [arguments of unittest]          with the server's binary in PAYDESK

BROWSERS_ENGINE=sqlite or postgres runs them on one alone. It fails where either run fails.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from threading import Lock, Thread

DATABASES = ["sqlite", "postgres"]


class Run:
    """The tests on one database, in a process of their own, whose lines are shown with the database's name before them."""

    screen = Lock()

    def __init__(self, database: str, command: list[str]) -> None:
        self.database, self.began = database, time.monotonic()
        environment = {**os.environ, "BROWSERS_ENGINE": database}
        # A session of its own: ctrl-C reaches it once, from here, and does not interrupt what it cleans up.
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", start_new_session=True)
        self.reader = Thread(target=self.show, daemon=True)
        self.reader.start()

    def show(self) -> None:
        for line in self.process.stdout:
            with Run.screen:
                print(f"{self.database:8} | {line.rstrip()}", flush=True)

    def end(self) -> bool:
        """Waits for the end; true where every test passed."""
        status = self.process.wait()
        # A program that a test has left may still hold the output.
        self.reader.join(timeout=10)
        with Run.screen:
            print(f"{self.database:8} | {'passed' if status == 0 else f'FAILED ({status})'} after {time.monotonic() - self.began:.0f} s", flush=True)
        return status == 0


def main() -> int:
    chosen = os.environ.get("BROWSERS_ENGINE")
    if chosen and chosen not in DATABASES:
        print(f"BROWSERS_ENGINE is {chosen}, and neither {' nor '.join(DATABASES)}", file=sys.stderr)
        return 2
    command = [sys.executable, "-u", "-m", "unittest", *sys.argv[1:]]
    if chosen:
        os.execv(command[0], command)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    runs = [Run(database, command) for database in DATABASES]
    try:
        for run in runs:
            run.process.wait()
    except KeyboardInterrupt:
        for run in runs:
            run.process.terminate()
    return 0 if all([run.end() for run in runs]) else 1


if __name__ == "__main__":
    sys.exit(main())
