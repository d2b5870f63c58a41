"""WebSocket frames as bytes (RFC 6455 §5.2), right and wrong ones: for tests that say things no library would."""

from __future__ import annotations

import base64
import os
import socket
import time

# The key of the example in RFC 6455 §1.3, and the answer to it.
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def frame(
    opcode: int, payload: bytes = b"", final: bool = True, reserved: int = 0, masked: bool = True,
    length_bytes: int | None = None, mask: bytes | None = None,
) -> bytes:
    """One frame. `length_bytes` forces a form of the length: 0, 2 or 8 bytes behind the second one."""
    length = len(payload)
    if length_bytes is None:
        length_bytes = 0 if length < 126 else 2 if length < 1 << 16 else 8
    head = bytes([final << 7 | reserved << 4 | opcode])
    short = {0: length, 2: 126, 8: 127}[length_bytes]
    head += bytes([masked << 7 | short]) + (length.to_bytes(length_bytes, "big") if length_bytes else b"")
    if not masked:
        return head + payload
    mask = os.urandom(4) if mask is None else mask
    wide = (mask * (length // 4 + 1))[:length]
    return head + mask + (int.from_bytes(payload, "big") ^ int.from_bytes(wide, "big")).to_bytes(length, "big")


def close(code: int | None = None, reason: bytes = b"") -> bytes:
    return frame(0x8, (b"" if code is None else code.to_bytes(2, "big")) + reason)


def handshake(
    subprotocol: str | None = "tidings.v1.json", request: str = "GET /v1/connect HTTP/1.1", without: str | None = None,
    more: tuple[str, ...] = (), **headers: str,
) -> bytes:
    """An opening handshake; headers are named with underscores, and take the place of the right ones."""
    fields = {
        "host": "localhost", "upgrade": "websocket", "connection": "Upgrade", "sec_websocket_key": KEY,
        "sec_websocket_version": "13", **({"sec_websocket_protocol": subprotocol} if subprotocol else {}), **headers,
    }
    fields.pop(without, None)
    lines = [request, *(f"{name.replace('_', '-')}: {value}" for name, value in fields.items()), *more, "", ""]
    return "\r\n".join(lines).encode("latin-1")


class Peer:
    """A TCP connection to a gateway that knows frames, and no rule of theirs."""

    def __init__(self, port: int, seconds: float = 60):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._held = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def send(self, data: bytes, chop: int | None = None, pause: float = 0):
        """Writes; `chop` in pieces of so many bytes."""
        for start in range(0, len(data), chop or len(data) or 1):
            self._socket.sendall(data[start : start + chop] if chop else data)
            if pause:
                time.sleep(pause)

    def head(self) -> str:
        """The head of an HTTP answer."""
        while b"\r\n\r\n" not in self._held:
            self._more()
        head, self._held = self._held.split(b"\r\n\r\n", 1)
        return head.decode("latin-1")

    def frame(self) -> tuple[int, bytes]:
        """The next frame of the server: its opcode and payload. It must be final, not masked and without reserved bits."""
        first, second = self._take(2)
        assert first & 0x80 and not first & 0x70 and not second & 0x80, (first, second)
        length = second & 0x7F
        if length >= 126:
            form = self._take(2 if length == 126 else 8)
            length = int.from_bytes(form, "big")
            assert length > (125 if len(form) == 2 else 0xFFFF), "not the shortest form"
        return first & 0x0F, self._take(length)

    def frames_until_end(self) -> list[tuple[int, bytes]]:
        """All frames up to the end of the connection. A close frame is answered, so that the server need not wait for that."""
        frames = []
        while True:
            try:
                frames.append(self.frame())
                if frames[-1][0] == 0x8:
                    self._socket.sendall(frame(0x8, frames[-1][1]))
            except (EOFError, ConnectionResetError, BrokenPipeError):
                return frames

    def end(self) -> bytes:
        """Everything up to the end of the connection."""
        while True:
            try:
                self._more()
            except (EOFError, ConnectionResetError):
                return self._held

    def close_code(self) -> int | None:
        """The code of the close frame before the connection ends, None for an end without one; nothing follows a close frame."""
        frames = self.frames_until_end()
        closes = [payload for opcode, payload in frames if opcode == 0x8]
        assert len(closes) <= 1 and (not closes or frames[-1][0] == 0x8), frames
        return int.from_bytes(closes[0][:2], "big") if closes else None

    def _take(self, count: int) -> bytes:
        while len(self._held) < count:
            self._more()
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    def _more(self):
        data = self._socket.recv(1 << 20)
        if not data:
            raise EOFError("the connection ended")
        self._held += data


def random_key() -> str:
    return base64.b64encode(os.urandom(16)).decode()
