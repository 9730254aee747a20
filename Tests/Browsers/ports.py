"""Free loopback ports, no one of which two runs of these tests get while both live."""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

LEAST = 20_000
given: set[int] = set()


def free_port() -> int:
    """A port that nobody listens at, and that no other process of these tests has been given.

    It lies below the ports that the kernel gives to connections, so that none of those takes it while its server is
    started again.
    """
    ports = range(LEAST, ceiling())
    for port in random.sample(ports, len(ports)):
        if port not in given and taken(port) and unused(port):
            given.add(port)
            return port
    raise OSError(f"no free port from {LEAST} to {ceiling()}")


@cache
def ceiling() -> int:
    """The first port that the kernel gives to connections (ip(7), `ip_local_port_range`), where that leaves enough."""
    try:
        first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except OSError:
        first = 0
    return first if first >= LEAST + 1_000 else 32_768


@cache
def book() -> IO[bytes]:
    """The file in which every process locks the byte at the number of each of its ports until it ends."""
    return (Path(tempfile.gettempdir()) / f"paydesk-browsers-ports-{os.getuid()}").open("ab")


def taken(port: int) -> bool:
    """Takes a port; false where another process has it."""
    try:
        fcntl.lockf(book(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True


def unused(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
