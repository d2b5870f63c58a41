"""Ports for servers that a test starts: none that something else may take in between, none twice.

A port that the system chose (bind to port 0) and that is closed again may be an outgoing connection's before its server listens.
These lie below the ports that the system chooses from. Every process takes from a part of its own: a socket bound to the part's
first port, and kept for as long as the process lives, says so to the others. `tidings demo` and its like do the same
(Sources/Tool/tidings/Support/FreePorts.swift).
"""

from __future__ import annotations

import pathlib
import socket
import threading

LOWEST = 10_240
# Where the system's own choice begins unless it is told otherwise (ip(7), ip_local_port_range).
USUAL_BORDER = 32_768
PART = 256


def border() -> int:
    """The first port that is not ours: where the system's own choice begins."""
    try:
        first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return USUAL_BORDER
    # A system that chooses from nearly all ports leaves nothing; then the part and the test by bind are all there is.
    return min(first, USUAL_BORDER) if first >= LOWEST + PART else USUAL_BORDER


def bound(port: int) -> socket.socket | None:
    """A socket at this port of the loopback interface; None if something has it, or had it a moment ago."""
    found = socket.socket()
    try:
        found.bind(("127.0.0.1", port))
    except OSError:
        found.close()
        return None
    return found


class Ports:
    """The ports of one process."""

    def __init__(self):
        self._lock = threading.Lock()
        self._next_part = LOWEST
        self._left = iter(())
        # Bound, not listening: what says that a part is taken.
        self._marks: list[socket.socket] = []

    def take(self) -> int:
        """A port on which nobody listens, and which was not given before."""
        with self._lock:
            while True:
                for port in self._left:
                    if probe := bound(port):
                        probe.close()
                        return port
                self._take_part()

    def _take_part(self):
        while self._next_part + PART <= border():
            first = self._next_part
            self._next_part += PART
            if mark := bound(first):
                self._marks.append(mark)
                self._left = iter(range(first + 1, first + PART))
                return
        raise RuntimeError(f"no free ports between {LOWEST} and {border()}")


_ports = Ports()


def free_port() -> int:
    """A port of the loopback interface for a server of this process or of its children."""
    return _ports.take()
