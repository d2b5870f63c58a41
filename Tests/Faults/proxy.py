"""A network between clients and server that fails: resets connections, or carries nothing more without saying so."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct


class Proxy:
    """Forwards TCP on a free loopback port. Belongs to one event loop."""

    def __init__(self, port: int):
        self._port = port
        self._pairs: set[_Pair] = set()
        self._server: asyncio.Server | None = None
        # How many connections were made, reset and silenced.
        self.made = self.reset_count = self.silenced = 0

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=1_024)
        return f"ws://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        try:
            onward = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.transport.abort()
            return
        self.made += 1
        pair = _Pair((reader, writer), onward)
        self._pairs.add(pair)
        try:
            await pair.forward()
        finally:
            self._pairs.discard(pair)

    @property
    def open(self) -> int:
        return len(self._pairs)

    def reset(self, share: float, chance):
        """Some connections are reset on both sides, in the middle of whatever is under way."""
        for pair in list(self._pairs):
            if chance.random() < share:
                pair.reset()
                self.reset_count += 1

    def silence(self, share: float, chance):
        """Some connections carry nothing more, and neither side is told: half open, as after a NAT has forgotten them."""
        for pair in list(self._pairs):
            if not pair.is_silent and chance.random() < share:
                pair.is_silent = True
                self.silenced += 1

    async def stop(self):
        self._server.close()
        for pair in list(self._pairs):
            pair.reset()
        while self._pairs:
            await asyncio.sleep(0.01)


class _Pair:
    def __init__(self, one, other):
        self._ends = (one, other)
        self.is_silent = False

    async def forward(self):
        (reader, writer), (onward_reader, onward_writer) = self._ends
        with contextlib.suppress(OSError):
            await asyncio.gather(self._copy(reader, onward_writer), self._copy(onward_reader, writer))
        for _, end in self._ends:
            end.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        while data := await reader.read(65_536):
            if not self.is_silent:
                writer.write(data)
                await writer.drain()
        if self.is_silent:
            # The other side is not told that this one has gone, until the proxy ends or that side gives up, too.
            return
        with contextlib.suppress(OSError):
            writer.write_eof()

    def reset(self):
        for _, writer in self._ends:
            # socket(7): closing with a linger of 0 sends a reset.
            with contextlib.suppress(OSError, AttributeError):
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
