"""A bad disk for one server: is small, loses power, fills up, refuses, is slow. `disk.c` stands before the calls of its process."""

from __future__ import annotations

import errno
import functools
import mmap
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile

from conftest import Site

HEADER = struct.Struct("=IIQQQQ")
WRITE, TRUNCATE, SYNC = 1, 2, 3
SECTOR = 512


@functools.cache
def library() -> pathlib.Path:
    """Builds disk.c, once in a run."""
    compiler = shutil.which("cc") or shutil.which("clang")
    assert compiler, "neither cc nor clang is there; Swift needs one of them, too"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tidings-disk-"))
    built = folder / "disk.so"
    source = pathlib.Path(__file__).with_name("disk.c")
    subprocess.run(
        [compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", built, source, "-ldl",
         "-lpthread"], check=True)
    return built


class Disk:
    """The disk under a site's database; to be made before the site starts."""

    def __init__(self, site: Site, loses_power: bool = False):
        self.database = site.database
        self._log = site.folder / "disk.log"
        control = site.folder / "disk.control"
        control.write_bytes(bytes(16))
        with open(control, "r+b") as file:
            self._control = mmap.mmap(file.fileno(), 16)
        site.wrapper = [
            "env", f"LD_PRELOAD={library()}", f"TIDINGS_DISK_FILE={self.database}", f"TIDINGS_DISK_CONTROL={control}",
            *([f"TIDINGS_DISK_LOG={self._log}"] if loses_power else []),
        ]

    def _set(self, index: int, value: int):
        self._control[index * 4 : index * 4 + 4] = struct.pack("=I", value)

    def delay(self, milliseconds: int):
        """Every sync takes so much longer."""
        self._set(0, milliseconds)

    def refuse_writes(self, error: int = errno.ENOSPC):
        """Every write fails with this, 0 for none."""
        self._set(1, error)

    def refuse_syncs(self, error: int = errno.EIO):
        """Every sync fails with this, 0 for none."""
        self._set(2, error)

    def shrink(self, kibibytes: int):
        """The disk has room for so much, all files of the database together; 0 for the real one."""
        self._set(3, kibibytes)

    def unsynced(self) -> list[tuple[int, str, int, bytes, bytes, int]]:
        """The writes since the last sync of their file: kind, path, offset, what was overwritten, what was written, size before."""
        return read_log(self._log.read_bytes() if self._log.exists() else b"")

    def lose_power(self, chance: random.Random | None = None) -> int:
        """To be called after the kill: takes back what was not synced. Returns how many writes that were.

        With `chance` some of them are left as they are, and some in part, as a disk that writes in any order may do.
        """
        writes = self.unsynced()
        for kind, path, offset, old, _, size in reversed(writes):
            with open(path, "r+b") as file:
                file.seek(offset)
                file.write(old)
                file.truncate(size)
        for kind, path, offset, _, new, _ in writes if chance else []:
            what = chance.choice(["lost", "lost", "whole", "whole", "torn"])
            if what == "lost" or kind == TRUNCATE:
                continue
            with open(path, "r+b") as file:
                file.seek(offset)
                file.write(new if what == "whole" else new[: chance.randrange(len(new) // SECTOR + 1) * SECTOR])
        self._log.unlink(missing_ok=True)
        return len(writes)


def read_log(log: bytes) -> list[tuple[int, str, int, bytes, bytes, int]]:
    """Reads what disk.c keeps; a record that the kill cut short is of a write that was not made."""
    pending: list[tuple[int, str, int, bytes, bytes, int]] = []
    at = 0
    while at + HEADER.size <= len(log):
        kind, path_length, offset, new_length, old_length, size = HEADER.unpack_from(log, at)
        at += HEADER.size
        if at + path_length + old_length + new_length > len(log):
            break
        path = os.fsdecode(log[at : at + path_length])
        at += path_length
        old = log[at : at + old_length]
        at += old_length
        new = log[at : at + new_length]
        at += new_length
        if kind == SYNC:
            pending = [write for write in pending if write[1] != path]
        else:
            pending.append((kind, path, offset, old, new, size))
    return pending
