"""A wall clock that tests set, for child processes, by way of libfaketime. Timers go on as they are."""

from __future__ import annotations

import os
import pathlib
import time
from datetime import datetime


class MovedClock:
    """Shared by all processes that are started with its `wrapper`; follows `set` in all of them at once."""

    def __init__(self, file: pathlib.Path, at: datetime):
        self.file = file
        self.set(at)

    def set(self, at: datetime):
        """Makes it this time now."""
        new = self.file.with_suffix(".new")
        # libfaketime's README, "Working with FAKETIME_TIMESTAMP_FILE": an offset to the machine's clock in seconds.
        new.write_text(f"{at.timestamp() - time.time():+.3f}\n")
        os.replace(new, self.file)

    @property
    def wrapper(self) -> list[str]:
        """What stands before a command that is to go by this clock."""
        # `faketime` makes what libfaketime would otherwise make in the process itself, by way of the environment: that moves, and
        # the Swift runtime finds a program's arguments beside it.
        return [
            # What a process waits by is not what it tells the time by.
            "faketime", "-m", "--exclude-monotonic", "-f", "+0",
            # An offset on the command line would go before the file's.
            "env", "-u", "FAKETIME", f"FAKETIME_TIMESTAMP_FILE={self.file}", "FAKETIME_NO_CACHE=1", "NO_FAKE_STAT=1",
        ]
