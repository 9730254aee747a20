"""A throwaway PostgreSQL server of this process, on a free loopback port."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ports import free_port

#: What is durable, and how large it is, is not what these tests are about.
SETTINGS = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "''", "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "max_connections": "200", "shared_buffers": "64MB"}


class Cluster:
    """The server, which a watching process stops and removes when this one has ended, in whatever way."""

    def __init__(self) -> None:
        self.programs, self.databases = programs(), 0
        self.folder = Path(tempfile.mkdtemp(prefix="paydesk-browsers-postgres-"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody")
        self.data = self.folder / "data"
        self.run("initdb", "-D", str(self.data), "-U", "paydesk", "-A", "trust", "-E", "UTF8", "--no-sync", *self.locale())
        self.port = free_port()
        options = " ".join([f"-p {self.port}", *(f"-c {name}={value}" for name, value in SETTINGS.items())])
        self.run("pg_ctl", "-D", str(self.data), "-l", str(self.folder / "log"), "-w", "-t", "60", "-o", options, "start")
        self.watch()

    def database(self) -> str:
        """The address of a new, empty database."""
        self.databases += 1
        query(self.url("postgres"), f"CREATE DATABASE desk_{self.databases}")
        return self.url(f"desk_{self.databases}")

    def url(self, database: str) -> str:
        return f"postgres://paydesk@127.0.0.1:{self.port}/{database}?sslmode=disable&gssencmode=disable"

    def close(self) -> None:
        # The watcher's pipe ends, and it does the rest.
        self.watcher.stdin.close()
        self.watcher.wait(timeout=60)

    def locale(self) -> list[str]:
        """A locale whose order of texts differs from COLLATE "C", so that a missing collation shows."""
        version = self.programs.parent.name
        return ["--locale-provider=icu", "--icu-locale=en", "--locale=C.UTF-8"] if version.isdigit() and int(version) >= 15 else ["--locale=C.UTF-8"]

    def command(self, program: str, *arguments: str) -> list[str]:
        """The command that runs a program of PostgreSQL as an unprivileged user: as root it refuses."""
        as_nobody = ["runuser", "-u", "nobody", "--"] if os.geteuid() == 0 else []
        return [*as_nobody, str(self.programs / program), *arguments]

    def run(self, program: str, *arguments: str) -> None:
        # The server that pg_ctl starts keeps what it inherits: a file, and no pipe whose end would be waited for.
        with (self.folder / f"{program}.out").open("w+", encoding="utf-8") as output:
            done = subprocess.run(self.command(program, *arguments), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=120)
            output.seek(0)
            assert done.returncode == 0, f"{program} ended with {done.returncode}: {output.read()}"

    def watch(self) -> None:
        stop = self.command("pg_ctl", "-D", str(self.data), "-m", "immediate", "stop")
        script = "trap '' HUP INT TERM; cat >/dev/null; folder=$1; shift; cd \"$folder\"; \"$@\" >/dev/null 2>&1; cd /; rm -rf \"$folder\""
        self.watcher = subprocess.Popen(["setsid", "sh", "-c", script, "sh", str(self.folder), *stop], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def programs() -> Path:
    """The folder of the programs of the newest installed server, else the one in PATH that has them."""
    installed = [each for each in Path("/usr/lib/postgresql").glob("*/bin") if each.parent.name.isdigit()]
    folders = sorted(installed, key=lambda each: int(each.parent.name), reverse=True) + [Path(each) for each in os.environ.get("PATH", "").split(":") if each]
    found = next((each for each in folders if os.access(each / "initdb", os.X_OK)), None)
    assert found, "PostgreSQL is missing: no initdb in /usr/lib/postgresql/*/bin or in PATH"
    return found


def query(url: str, sql: str) -> list[str]:
    """Runs a statement; the lines of its only column."""
    command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]
