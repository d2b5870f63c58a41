"""The rules of RFC 6455 against the SDK's transport on Linux: a server of plain sockets says right and wrong things to `tidings message send`.

What the SDK sent shows the rules for clients; what it does about a server that breaks them shows in whether it answers the next
ping or ends the connection. On Apple platforms `URLSessionWebSocketTask` is what decides.
"""

import base64
import hashlib
import os
import signal
import socket
import subprocess
import tempfile

import pytest
from conftest import tool
from raw_websocket import frame

BINARY, CLOSE, PING, PONG = 0x2, 0x8, 0x9, 0xA
PROTOCOL_ERROR, TOO_BIG = 1002, 1009


class Server:
    """A port, and the SDK as a process that connects to it."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(60)
        self.port = self._listener.getsockname()[1]
        # It is killed, and removes nothing of its own then.
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [tool(), "message", "send", "demo", "--gateway", f"ws://127.0.0.1:{self.port}", "--from", "ada", "--to", "bob", "--user-token", "t",
             "text"], env={**os.environ, "TMPDIR": self._folder.name}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL)
        self._socket, _ = self._listener.accept()
        self._socket.settimeout(60)
        self._held = b""

    def stop(self):
        self._socket.close()
        self._listener.close()
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()

    def request(self) -> tuple[str, dict[str, str]]:
        """The first line of the handshake, and its headers with their names in lower case."""
        while b"\r\n\r\n" not in self._held:
            self._more()
        head, self._held = self._held.split(b"\r\n\r\n", 1)
        first, *lines = head.decode().split("\r\n")
        headers = [line.split(": ", 1) for line in lines]
        assert len({name.lower() for name, _ in headers}) == len(headers), "a header comes twice"
        return first, {name.lower(): value for name, value in headers}

    def answer(self, status: str = "101 Switching Protocols", **changes: str | None):
        """Answers the handshake; None leaves a header out."""
        _, asked = self.request()
        proof = hashlib.sha1(asked["sec-websocket-key"].encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        headers = {
            "upgrade": "websocket", "connection": "Upgrade", "sec_websocket_accept": base64.b64encode(proof).decode(),
            "sec_websocket_protocol": "tidings.v1.protobuf", **changes}
        lines = [f"HTTP/1.1 {status}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items() if value is not None]
        self.send("\r\n".join([*lines, "", ""]).encode())

    def send(self, data: bytes):
        self._socket.sendall(data)

    def frame(self) -> tuple[int, bytes]:
        """The SDK's next frame: final, masked, without reserved bits, its length in the shortest form (§5.1, §5.2)."""
        first, second = self._take(2)
        assert first & 0xF0 == 0x80 and second & 0x80, (first, second)
        length = second & 0x7F
        if length >= 126:
            form = self._take(2 if length == 126 else 8)
            length = int.from_bytes(form, "big")
            assert length > (125 if len(form) == 2 else 0xFFFF)
        self.mask = self._take(4)
        payload = self._take(length)
        return first & 0x0F, bytes(byte ^ self.mask[index & 3] for index, byte in enumerate(payload))

    def frames_until_end(self) -> list[tuple[int, bytes]]:
        frames = []
        while True:
            try:
                frames.append(self.frame())
            except (EOFError, ConnectionError):
                return frames

    def _take(self, count: int) -> bytes:
        while len(self._held) < count:
            self._more()
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    def _more(self):
        data = self._socket.recv(65_536)
        if not data:
            raise EOFError("the connection ended")
        self._held += data


@pytest.fixture
def server():
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def open_server(server):
    """The WebSocket is open, and the hello has come."""
    server.answer()
    opcode, payload = server.frame()
    assert opcode == BINARY and payload
    return server


def server_frame(opcode: int, payload: bytes = b"", **options) -> bytes:
    return frame(opcode, payload, masked=False, **options)


# A frame of a kind no client knows: field 2047, passed over as docs/server/protocol.md asks.
UNKNOWN = b"\xfa\x7f\x00"


def is_answered(server: Server, payload: bytes = b"still there?"):
    server.send(server_frame(PING, payload))
    assert server.frame() == (PONG, payload)


def test_the_opening_handshake_asks_as_it_must():
    """§4.1."""
    keys = set()
    for _ in range(2):
        server = Server()
        try:
            first, headers = server.request()
        finally:
            server.stop()
        assert first == "GET /v1/connect HTTP/1.1"
        assert headers["host"] == f"127.0.0.1:{server.port}"
        assert headers["upgrade"].lower() == "websocket" and "upgrade" in headers["connection"].lower()
        assert headers["sec-websocket-version"] == "13"
        assert headers["sec-websocket-protocol"] == "tidings.v1.protobuf"
        assert len(base64.b64decode(headers["sec-websocket-key"], validate=True)) == 16
        keys.add(headers["sec-websocket-key"])
    assert len(keys) == 2, "the key must be drawn for each connection"


@pytest.mark.parametrize("case, status, changes", [
    ("another status", "200 OK", {}),
    ("a refusal", "403 Forbidden", {}),
    ("no Upgrade (§4.1, 2)", "101 Switching Protocols", {"upgrade": None}),
    ("no proof (§4.1, 4)", "101 Switching Protocols", {"sec_websocket_accept": None}),
    ("a wrong proof", "101 Switching Protocols", {"sec_websocket_accept": "AAAAAAAAAAAAAAAAAAAAAAAAAAA="}),
    ("an extension nobody offered (§4.1, 5)", "101 Switching Protocols", {"sec_websocket_extensions": "permessage-deflate"}),
    ("a subprotocol nobody offered (§4.1, 6)", "101 Switching Protocols", {"sec_websocket_protocol": "tidings.v1.json"}),
    ("no subprotocol", "101 Switching Protocols", {"sec_websocket_protocol": None}),
], ids=lambda value: value if isinstance(value, str) and " " in value else "")
def test_a_handshake_is_given_up_at(server, case, status, changes):
    """Nothing of the client protocol is said to such a server, the token least of all."""
    server.answer(status, **changes)
    assert [opcode for opcode, _ in server.frames_until_end() if opcode != CLOSE] == []


@pytest.mark.parametrize("payload", [b"", b"Hello", bytes(range(125))], ids=len)
def test_2_a_ping_is_answered_with_its_payload_under_a_new_mask(open_server, payload):
    masks = set()
    for _ in range(3):
        open_server.send(server_frame(PING, payload))
        assert open_server.frame() == (PONG, payload)
        masks.add(open_server.mask)
    assert len(masks) == 3, "§5.3: the mask must be drawn for each frame"


@pytest.mark.parametrize("what", [
    server_frame(PONG, b"unsolicited"), server_frame(BINARY, UNKNOWN),
    server_frame(BINARY, UNKNOWN[:1], final=False) + server_frame(0, UNKNOWN[1:]),
    server_frame(BINARY, UNKNOWN[:1], final=False) + server_frame(0, final=False) * 40 + server_frame(0, UNKNOWN[1:]),
], ids=["a pong nobody asked for", "a message", "fragments", "empty fragments"])
def test_the_connection_lives_on_after(open_server, what):
    """2.7, 1.2, 5.3."""
    open_server.send(what)
    is_answered(open_server)


def test_5_a_ping_between_fragments_is_answered(open_server):
    open_server.send(server_frame(BINARY, UNKNOWN[:1], final=False) + server_frame(PING, b"between"))
    assert open_server.frame() == (PONG, b"between")
    open_server.send(server_frame(0, UNKNOWN[1:]))
    is_answered(open_server)


FAULTS = {
    "1 a masked frame of a server (§5.1)": frame(BINARY, UNKNOWN),
    "1 a length beyond 63 bits (§5.2)": b"\x82\x7f" + b"\xff" * 8,
    "2.5 a ping of 126 bytes (§5.5)": server_frame(PING, bytes(126)),
    "3 a reserved bit (§5.2)": server_frame(BINARY, UNKNOWN, reserved=4),
    "3 a reserved bit of a ping": server_frame(PING, reserved=1),
    "4 a reserved opcode": server_frame(0x3, b"x"),
    "4 a reserved control opcode": server_frame(0xB),
    "5.1 a ping in fragments (§5.4)": server_frame(PING, final=False),
    "5.9 a continuation of nothing": server_frame(0, b"x"),
    "5.18 a message within a message": server_frame(BINARY, b"x", final=False) + server_frame(BINARY, UNKNOWN),
    "9 a message that is too long, by its header": b"\x82\x7f" + (1 << 40).to_bytes(8, "big"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_of_the_server_ends_the_connection(open_server, fault):
    """A close frame with the reason, or none; and nothing that came after the fault is answered."""
    open_server.send(fault + server_frame(PING, b"late"))
    frames = open_server.frames_until_end()
    assert all(opcode == CLOSE for opcode, _ in frames), frames
    codes = [int.from_bytes(payload[:2], "big") for _, payload in frames if payload]
    assert set(codes) <= {PROTOCOL_ERROR, TOO_BIG}, codes


@pytest.mark.parametrize("payload", [b"", (1000).to_bytes(2, "big"), (1001).to_bytes(2, "big") + b"going away"], ids=len)
def test_7_a_close_is_answered_with_its_code_and_ends_the_connection(open_server, payload):
    """§5.5.1."""
    open_server.send(server_frame(CLOSE, payload) + server_frame(PING, b"late"))
    frames = open_server.frames_until_end()
    assert frames[0] == (CLOSE, payload[:2]), frames
