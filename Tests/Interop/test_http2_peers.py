"""Both sides of our HTTP/2 (docs/inside/decisions/0011) against that of others, over TLS and real sockets: nghttp2's server and
clients, Node's server, Go's server and client, and Python's h2 as a server that writes its frames as oddly as may be.

What a server of others counts is compared with what our client reports: each notification is answered once, and none
is sent twice unless its outcome was unknown.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import re
import socket
import ssl
import subprocess
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings
import pytest

from apple import TOPIC, Apple
from conftest import Program, tool
from ports import free_port

# One for each notification: what a server has got twice can be told.
TOKENS = [f"{number:08x}" for number in range(2_000)]
HERE = pathlib.Path(__file__).resolve().parent
COUNT = len(TOKENS)


@pytest.fixture(scope="module")
def apple(tmp_path_factory):
    apple = Apple(tmp_path_factory.mktemp("apple"))
    yield apple
    apple.stop()


def bench(apple: Apple, port: int, *options: str, count: int = COUNT, in_flight: int = 100) -> dict:
    """What became of so many notifications of our client."""
    out = apple.run(
        [
            tool(), "bench", "apns", "--port", str(port), "--trust-roots", str(apple.authority), "--notifications", str(count),
            "--in-flight", str(in_flight), "--json", *(f"--token={token}" for token in TOKENS), *options,
        ]
    )
    return json.loads(out)["statuses"]


def repeated(seen: dict, in_flight: int = 100) -> int:
    """How many notifications a server answered more than once. The first ones of the list also warm up."""
    return sum(seen["paths"].get(f"/3/device/{token}", 0) > 1 for token in TOKENS[2 * in_flight:])


# Our client, nghttp2's server


class Nghttpd:
    """nghttpd with the papers of the local APNs, saying back what it is sent, with its frames in a log."""

    def __init__(self, apple: Apple, folder: pathlib.Path, *options: str, port: int | None = None):
        self.port = port or free_port()
        self.log = folder / f"nghttpd-{len(list(folder.iterdir()))}.log"
        self.program = Program(
            [
                "nghttpd", "--address=127.0.0.1", "--echo-upload", "--verbose", "--window-bits=16",
                "--connection-window-bits=16", *options, str(self.port), str(apple.state / "server.key"),
                str(apple.state / "server.pem"),
            ],
            self.log,
        )
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return
            threading.Event().wait(0.05)
        raise AssertionError(self.program.tail())

    def has_clients(self) -> bool:
        """Whether the program has not closed every connection: one is established, or ended by the client alone (proc(5))."""
        rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return any(row[1].endswith(f":{self.port:04X}") and row[3] in ("01", "08") for row in rows)

    def frames(self) -> list[str]:
        """The frames, such as `recv HEADERS`, in order, once its clients have gone."""
        for _ in range(600):
            if not self.has_clients():
                break
            threading.Event().wait(0.05)
        # The program writes through a buffer of its own: it has to have ended.
        self.program.stop()
        return re.findall(r"\[id=\d+\] \[ *[\d.]+\] ((?:recv|send) [A-Z_]+) frame", self.log.read_text(errors="replace"))

@pytest.mark.parametrize(
    "options, connections",
    [
        pytest.param([], 1, id="plain"),
        pytest.param(["--max-concurrent-streams=3"], 1, id="three-streams"),
        pytest.param(["--max-concurrent-streams=50"], 4, id="four-connections"),
        pytest.param(["--header-table-size=0"], 1, id="no-table"),
        pytest.param(["--encoder-header-table-size=0", "--padding=200"], 1, id="padding"),
        pytest.param(["--trailer=x-after: all"], 1, id="trailers"),
        pytest.param(["--early-response"], 1, id="early-response"),
    ],
)
def test_client_and_nghttpd(apple, tmp_path, options, connections):
    server = Nghttpd(apple, tmp_path, *options)
    assert bench(apple, server.port, "--connections", str(connections)) == {"200": COUNT}
    frames = server.frames()
    # 2,000 bodies of about 100 bytes are three windows of the connection: it had to be opened again.
    assert frames.count("send WINDOW_UPDATE") >= 2 or "--early-response" in options
    assert frames.count("recv HEADERS") >= COUNT
    # nghttp2 ends the connection, or the stream, over whatever breaks a rule.
    assert "send GOAWAY" not in frames
    assert "send RST_STREAM" not in frames or "--early-response" in options
    assert frames.count("recv RST_STREAM") == 0
    # It acknowledged SETTINGS, and they hold: never more streams than it was given.
    assert frames.count("recv SETTINGS") >= 2 * connections
    assert "recv GOAWAY" in frames, "a client that shuts down says so"


def test_client_and_an_nghttpd_that_dies(apple, tmp_path):
    """Killed under way and started again: only what was in flight may have an unknown outcome, all else is sent, and
    nothing is sent twice."""
    server = Nghttpd(apple, tmp_path)
    results = []
    thread = threading.Thread(target=lambda: results.append(bench(apple, server.port)))
    thread.start()
    # Warming up takes 400 requests at most.
    while server.log.read_text(errors="replace").count("recv HEADERS") < 1_000:
        threading.Event().wait(0.05)
    server.program.kill()
    again = Nghttpd(apple, tmp_path, port=server.port)
    thread.join(120)
    again.program.stop()
    [statuses] = results
    assert sum(statuses.values()) == COUNT
    assert set(statuses) <= {"200", "unknown_outcome"}
    # 100 were in flight; fewer if some were answered.
    assert statuses.get("unknown_outcome", 0) <= 100
    paths: dict[str, int] = {}
    for log in (server.log, again.log):
        for path in re.findall(r"recv .* :path: (\S+)", log.read_text(errors="replace")):
            paths[path] = paths.get(path, 0) + 1
    assert len(paths) >= COUNT - 100 and repeated({"paths": paths}) == 0


# Our client, Node's server


class NodeServer:
    """http2_server.mjs, and what it saw."""

    def __init__(self, apple: Apple, **wish):
        wish = {"key": str(apple.state / "server.key"), "cert": str(apple.state / "server.pem"), "every": 10, **wish}
        self.process = subprocess.Popen(
            ["node", str(HERE / "http2_server.mjs"), json.dumps(wish)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )
        self.port = int(self.process.stdout.readline())

    def seen(self) -> dict:
        out, _ = self.process.communicate(timeout=60)
        return json.loads(out)


@pytest.mark.parametrize(
    "wish",
    [
        pytest.param({}, id="plain"),
        pytest.param({"settings": {"maxConcurrentStreams": 2}}, id="two-streams"),
        pytest.param({"settings": {"headerTableSize": 0}, "cycle": [{"headerTableSize": 4096}, {"headerTableSize": 0}]},
                     id="table-comes-and-goes"),
        pytest.param({"settings": {"initialWindowSize": 20}}, id="window-of-20"),
        pytest.param({"cycle": [{"initialWindowSize": n} for n in (1, 70_000, 30, 0, 65_535)]}, id="window-changes"),
        pytest.param({"settings": {"maxFrameSize": 16_777_215}, "body": "x" * 40_000}, id="long-bodies"),
        pytest.param({"padding": True, "body": "{}"}, id="padding"),
        pytest.param({"trailers": True, "interim": True}, id="trailers-and-interim"),
        pytest.param({"ping": True, "altsvc": True}, id="ping-and-unknown-frames"),
    ],
)
def test_client_and_node(apple, wish):
    server = NodeServer(apple, **wish)
    assert bench(apple, server.port) == {"200": COUNT}
    seen = server.seen()
    assert seen["errors"] == [] and seen["cut"] == 0 and repeated(seen) == 0
    assert seen["sessions"] == 1
    assert seen["answered"] == seen["requests"] >= COUNT
    assert seen["openMax"] <= wish.get("settings", {}).get("maxConcurrentStreams", 100)
    assert seen["openMax"] > 1
    assert seen["pongs"] == seen["pings"] >= (COUNT // 10 if wish.get("ping") else 0)


def test_client_and_a_node_whose_stream_limit_changes(apple):
    """Also downward, below what is open: Node refuses what comes too late, and it is sent again."""
    server = NodeServer(apple, every=40, cycle=[{"maxConcurrentStreams": n} for n in (1, 100, 7, 50, 3)])
    assert bench(apple, server.port) == {"200": COUNT}
    seen = server.seen()
    assert seen["errors"] == [] and repeated(seen) == 0
    assert seen["answered"] == seen["requests"] >= COUNT


@pytest.mark.parametrize("debug", ['{"reason":"Shutdown"}', "", "Maximum active streams violated"])
def test_client_and_a_node_that_goes_away(apple, debug):
    server = NodeServer(apple, every=300, after=500, goAway=debug)
    assert bench(apple, server.port) == {"200": COUNT}
    seen = server.seen()
    assert seen["goAways"] >= 5
    assert seen["sessions"] == seen["goAways"] + 1
    # What the GOAWAY left out went to another connection, and nothing else did.
    assert repeated(seen) == 0
    assert seen["answered"] == seen["requests"] >= COUNT


def test_client_and_a_node_that_refuses_streams(apple):
    server = NodeServer(apple, every=9, reset=7)
    assert bench(apple, server.port) == {"200": COUNT}
    seen = server.seen()
    assert seen["resets"] >= COUNT // 9
    assert repeated(seen) == 0 and seen["sessions"] == 1
    assert seen["answered"] + seen["resets"] == seen["requests"]


@pytest.mark.parametrize(
    "wish",
    [
        pytest.param({"reset": 2}, id="reset"),
        # 16,384 bytes are what the client announces; a longer list comes with CONTINUATION, and fails its stream alone.
        pytest.param({"headerBytes": 20_000}, id="long-headers"),
    ],
)
def test_client_and_a_node_that_fails_streams(apple, wish):
    # Warming up takes 200 or 300 requests and wants answers.
    server = NodeServer(apple, every=10, after=500, **wish)
    statuses = bench(apple, server.port)
    seen = server.seen()
    assert set(statuses) == {"200", "unknown_outcome"}
    assert sum(statuses.values()) == COUNT
    assert statuses["unknown_outcome"] == (seen["requests"] - 500) // 10
    assert repeated(seen) == 0 and seen["sessions"] == 1


# Our client, Python's h2 as a server


class OddServer:
    """Writes what few servers write: header blocks in CONTINUATION frames of five bytes, frames of unknown types, empty
    DATA, PRIORITY, reserved bits, window updates of one byte, all of it in pieces of any size."""

    def __init__(self, apple: Apple):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(apple.state / "server.pem", apple.state / "server.key")
        self.tls.set_alpn_protocols(["h2"])
        self.requests = 0
        self.errors: list[str] = []
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    @staticmethod
    def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        # The reserved bit is set: a receiver ignores it (RFC 9113, section 4.1).
        return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + (stream | 1 << 31).to_bytes(4, "big") + payload

    def serve(self):
        try:
            plain, _ = self.listener.accept()
            with self.tls.wrap_socket(plain, server_side=True) as peer:
                self.talk(peer)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.errors.append(repr(error))

    def talk(self, peer: ssl.SSLSocket):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        peer.sendall(connection.data_to_send())
        while data := peer.recv(65_536):
            out = b""
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.DataReceived):
                    connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    out += connection.data_to_send() + self.answer(connection, event.stream_id)
                elif isinstance(event, h2.events.ConnectionTerminated):
                    if event.error_code:
                        self.errors.append(f"GOAWAY {event.error_code} {event.additional_data!r}")
                    return
            out += connection.data_to_send()
            for start in range(0, len(out), 333):
                peer.sendall(out[start:start + 333])

    def answer(self, connection: h2.connection.H2Connection, stream: int) -> bytes:
        self.requests += 1
        connection.send_headers(stream, [(":status", "200"), ("apns-unique-id", str(self.requests) * 4), ("x", "y" * 90)])
        block = connection.data_to_send()[9:]
        parts = [block[start:start + 5] for start in range(0, len(block), 5)]
        headers = b"".join(
            # HEADERS, then CONTINUATION, the last with END_HEADERS.
            self.frame(0x9 if index else 0x1, 0x4 if index == len(parts) - 1 else 0, stream, part)
            for index, part in enumerate(parts)
        )
        connection.send_data(stream, b"", end_stream=False)
        connection.send_data(stream, b"{}", end_stream=False, pad_length=7)
        connection.end_stream(stream)
        return (
            self.frame(0xBB, 0xFF, stream, b"unknown") + self.frame(0x2, 0, stream, bytes(5)) + headers
            + self.frame(0x8, 0, 0, (1).to_bytes(4, "big")) + self.frame(0xEE, 0, 0, b"")
            + connection.data_to_send()
        )

    def end(self):
        self.thread.join(60)
        self.listener.close()


def test_client_and_a_server_that_writes_oddly(apple):
    server = OddServer(apple)
    assert bench(apple, server.port) == {"200": COUNT}
    server.end()
    assert server.errors == []
    assert server.requests >= COUNT


# Go's net/http on either side


@pytest.fixture(scope="module")
def go(tmp_path_factory) -> pathlib.Path:
    """http2_peer.go, built. `dev/bootstrap test` installs Go: these tests are not left out."""
    program = tmp_path_factory.mktemp("go") / "http2_peer"
    subprocess.run(["go", "build", "-o", str(program), str(HERE / "http2_peer.go")], check=True, timeout=300)
    return program


@pytest.mark.parametrize("every", [0, 300], ids=["plain", "goes-away"])
def test_client_and_go(apple, go, every):
    server = subprocess.Popen(
        [go, "server", str(apple.state / "server.pem"), str(apple.state / "server.key"), str(every)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    port = int(server.stdout.readline())
    statuses = bench(apple, port)
    out, errors = server.communicate(timeout=60)
    seen = json.loads(out)
    assert statuses == {"200": COUNT}, errors
    assert errors == ""
    assert seen["requests"] >= COUNT
    assert (seen["cut"], seen["other"], repeated(seen)) == (0, 0, 0)
    assert seen["goAways"] >= (COUNT // 300 if every else 0)


# Clients of others, our server


def accepted(apple: Apple) -> int:
    return len(apple.get("/log?event=accepted&limit=100000"))


@pytest.fixture
def own_apple(tmp_path):
    apple = Apple(tmp_path)
    yield apple
    apple.stop()


def test_go_and_our_server(own_apple, go):
    out = own_apple.run(
        [
            str(go), "client", str(own_apple.authority), f"https://localhost:{own_apple.port}/3/device/{own_apple.device}",
            own_apple.key.token(), TOPIC, str(COUNT), "2", "50", '{"aps":{"alert":"hi"}}',
        ]
    )
    # Another status, or another protocol, would be another name.
    assert json.loads(out)["statuses"] == {"200": COUNT}
    assert accepted(own_apple) == COUNT


def headers(apple: Apple) -> list[str]:
    fields = [f"authorization: bearer {apple.key.token()}", f"apns-topic: {TOPIC}", "apns-push-type: alert"]
    return [part for field in fields for part in ("-H", field)]


@pytest.mark.parametrize("clients, streams", [(1, 1), (1, 100), (10, 10)])
def test_h2load_and_our_server(own_apple, clients, streams):
    (own_apple.folder / "body").write_text('{"aps":{"alert":"hi"}}')
    out = own_apple.run(
        [
            "h2load", f"--requests={COUNT}", f"--clients={clients}", f"--max-concurrent-streams={streams}", "--data=body",
            *headers(own_apple), f"https://localhost:{own_apple.port}/3/device/{own_apple.device}",
        ]
    )
    counts = {name: int(number) for number, name in re.findall(r"(\d+) (total|succeeded|failed|errored|2xx|4xx)", out)}
    # It keeps to the one stream of the first SETTINGS, and to the thousand that follow the first good token (APNs
    # reference, section 3.1).
    assert (counts["total"], counts["failed"], counts["4xx"]) == (COUNT, 0, 0)
    assert accepted(own_apple) == counts["2xx"] == counts["succeeded"] == COUNT


@pytest.mark.parametrize(
    "option, end",
    [
        pytest.param("--padding=100", ":status: 200", id="padding"),
        # 20,000 bytes of fields in CONTINUATION frames, where the server announces that it takes 8,000.
        pytest.param("--continuation", "recv RST_STREAM", id="continuation"),
    ],
)
def test_nghttp_and_our_server(own_apple, option, end):
    (own_apple.folder / "body").write_text('{"aps":{"alert":"hi"}}')
    out = own_apple.run(
        [
            "nghttp", "--verbose", "--no-verify-peer", option, "--data=body", "-H", ":method: POST",
            *headers(own_apple), f"https://localhost:{own_apple.port}/3/device/{own_apple.device}",
        ]
    )
    assert end in out
    assert "recv GOAWAY" not in out
    assert accepted(own_apple) == (1 if "200" in end else 0)


def test_h2_and_our_server_that_wants_pseudo_headers_first(own_apple):
    """Apple closes the connection of a client that writes an ordinary field before a pseudo-header field (APNs reference,
    section 3.6)."""
    tls = ssl.create_default_context(cafile=own_apple.authority)
    tls.set_alpn_protocols(["h2"])
    configuration = h2.config.H2Configuration(
        header_encoding="utf-8", validate_outbound_headers=False, normalize_outbound_headers=False
    )
    connection = h2.connection.H2Connection(configuration)
    connection.initiate_connection()
    fields = [
        (":method", "POST"), (":scheme", "https"), ("apns-topic", TOPIC), ("authorization", f"bearer {own_apple.key.token()}"),
        (":path", f"/3/device/{own_apple.device}"), (":authority", "localhost"),
    ]
    connection.send_headers(1, fields)
    connection.send_data(1, b'{"aps":{"alert":"hi"}}', end_stream=True)
    events = []
    with socket.create_connection(("localhost", own_apple.port), timeout=60) as plain:
        with tls.wrap_socket(plain, server_hostname="localhost") as peer:
            peer.sendall(connection.data_to_send())
            while data := peer.recv(65_536):
                events += connection.receive_data(data)
    [end] = [event for event in events if isinstance(event, h2.events.ConnectionTerminated)]
    assert end.error_code == h2.errors.ErrorCodes.PROTOCOL_ERROR
    assert not any(isinstance(event, (h2.events.ResponseReceived, h2.events.StreamReset)) for event in events)
    assert accepted(own_apple) == 0


def test_aioapns_and_our_server(own_apple):
    """Four hundred at a time over one connection, without ALPN."""
    import aioapns
    import aioapns.connection

    async def run() -> list[str]:
        client = aioapns.APNs(
            key=own_apple.key.pem, key_id=own_apple.key.key_id, team_id=own_apple.key.team_id, topic=TOPIC,
            use_sandbox=True, max_connections=1, ssl_context=ssl.create_default_context(cafile=own_apple.authority),
        )
        client.pool.protocol_class = type(
            "Sandbox", (aioapns.connection.APNsDevelopmentClientProtocol,),
            {"APNS_SERVER": "localhost", "APNS_PORT": own_apple.port},
        )

        async def one() -> str:
            push = aioapns.NotificationRequest(device_token=own_apple.device, message={"aps": {"alert": "hi"}})
            return (await client.send_notification(push)).status

        try:
            return [await one(), *await asyncio.gather(*(one() for _ in range(400)))]
        finally:
            client.pool.close()

    assert asyncio.run(run()) == ["200"] * 401
    assert accepted(own_apple) == 401
