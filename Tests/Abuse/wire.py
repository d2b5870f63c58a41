"""WebSocket and JSON frames for many connections in one process, cheap enough that the server is what is busy."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time

SUBPROTOCOL = "tidings.v1.json"
# The key of the example in RFC 6455 §1.3: nothing here guards anybody against a proxy.
HANDSHAKE = (
    "GET /v1/connect HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
).encode()


def text_frame(payload: bytes) -> bytes:
    """A masked text frame. The mask is zero, which leaves the payload as it is (RFC 6455 §5.3)."""
    length = len(payload)
    if length < 126:
        return bytes((0x81, 0x80 | length, 0, 0, 0, 0)) + payload
    if length < 1 << 16:
        return bytes((0x81, 0xFE)) + length.to_bytes(2, "big") + bytes(4) + payload
    return bytes((0x81, 0xFF)) + length.to_bytes(8, "big") + bytes(4) + payload


def json_frame(message: dict) -> bytes:
    return text_frame(json.dumps(message, separators=(",", ":")).encode())


def pong_frame(payload: bytes) -> bytes:
    return bytes((0x8A, 0x80 | len(payload), 0, 0, 0, 0)) + payload


def hello(token: str, device: str, after: int = 0, platform: str = "python") -> dict:
    return {"hello": {
        "versionMin": 1, "versionMax": 1, "token": token, "device": device, "platform": platform,
        "runState": {"state": "foreground"}, "after": str(after)}}


def send(ident: str, kind: str, target: str, text: str, **more) -> dict:
    return {"send": {
        "clientMessageId": ident, "conversation": {"type": kind, "target": target}, "objectName": "RC:TxtMsg",
        "content": json.dumps({"content": text}), **more}}


class Frames:
    """Cuts what a server writes into frames."""

    def __init__(self):
        self._held = bytearray()

    def take(self, data: bytes) -> list[tuple[int, bytes]]:
        """The frames that are whole now: opcode and payload."""
        held = self._held
        held += data
        found, at, end = [], 0, len(held)
        while end - at >= 2:
            length, head = held[at + 1] & 0x7F, 2
            if length >= 126:
                head = 4 if length == 126 else 10
                if end - at < head:
                    break
                length = int.from_bytes(held[at + 2 : at + head], "big")
            if end - at < head + length:
                break
            found.append((held[at] & 0x0F, bytes(held[at + head : at + head + length])))
            at += head + length
        del held[:at]
        return found


def user_token(secret: str, app: str, user: str, seconds: int = 3_600) -> str:
    """A user token (docs/server/apps.md): a JWT of the app, signed with its secret."""
    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    head = part(b'{"alg":"HS256","typ":"JWT"}')
    now = int(time.time())
    claims = part(json.dumps({"app": app, "sub": user, "iat": now, "exp": now + seconds}).encode())
    signature = hmac.digest(secret.encode(), f"{head}.{claims}".encode(), hashlib.sha256)
    return f"{head}.{claims}.{part(signature)}"
