"""The rules of RFC 6455 against the real gateway, in the groups of the Autobahn test suite, over plain sockets.

Autobahn's cases ask a server that echoes. A gateway does not echo: what was understood shows in the answer to a ping of the client
protocol (`{"ping":{"nonce":"7"}}` is answered by a pong with the same nonce), and everything else in the close code.
"""

import json
import random
import time

import pytest
from conftest import Site
from raw_websocket import ACCEPT, KEY, Peer, close, frame, handshake

TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA
NORMAL, PROTOCOL_ERROR, UNSUPPORTED, INVALID, TOO_BIG = 1000, 1002, 1003, 1007, 1009
# gateway.frame_bytes_max: the smallest it may be, so that the limit is met with little.
FRAME_MAX = 65_536


@pytest.fixture(scope="module")
def site():
    site = Site(settings={"gateway": {"frame_bytes_max": FRAME_MAX}, "limits": {"mode": "none"}})
    try:
        yield site.start()
    finally:
        site.stop()


@pytest.fixture
def peer(site):
    """A client that has said hello and was welcomed."""
    with Peer(site.gateway_port) as peer:
        peer.send(handshake())
        assert peer.head().startswith("HTTP/1.1 101 ")
        peer.send(frame(TEXT, json.dumps({"hello": {
            "versionMin": 1, "versionMax": 1, "token": site.token("ada"), "device": f"raw-{time.time_ns()}",
            "platform": "raw", "runState": {"state": "foreground"}, "after": "0"}}).encode()))
        opcode, payload = peer.frame()
        assert opcode == TEXT and "welcome" in json.loads(payload)
        yield peer


def ping(nonce: int = 7, length: int = 0) -> bytes:
    """A ping of the client protocol, padded to so many bytes with what JSON passes over."""
    text = json.dumps({"ping": {"nonce": str(nonce)}}).encode()
    return text + b" " * (length - len(text))


def is_answered(peer: Peer, nonce: int = 7):
    """The session goes on: the next text is the pong of this nonce."""
    opcode, payload = peer.frame()
    assert (opcode, json.loads(payload)) == (TEXT, {"pong": {"nonce": str(nonce)}})


# MARK: the opening handshake (§4)


@pytest.mark.parametrize("case, request_bytes", {
    "as in the RFC's example": handshake(),
    "names of headers in any case": handshake().replace(b"upgrade:", b"UPGRADE:").replace(b"sec-websocket-key", b"Sec-WebSocket-KEY"),
    "more than upgrade in Connection": handshake(connection="keep-alive, Upgrade"),
    "upgrade in capitals": handshake(upgrade="WebSocket"),
    "both subprotocols": handshake("tidings.v1.json, tidings.v1.protobuf"),
    "a subprotocol nobody knows first": handshake("chat, tidings.v1.json"),
    "subprotocols in two headers": handshake("chat", more=("Sec-WebSocket-Protocol: tidings.v1.json",)),
    "extensions, which are not taken": handshake(more=("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",)),
    "an origin and a cookie": handshake(more=("Origin: https://example.com", "Cookie: a=b")),
    "a query": handshake(request="GET /v1/connect?x=1 HTTP/1.1"),
}.items(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_handshake_is_accepted_with(site, case, request_bytes):
    """§4.2.2: 101, the proof, the chosen subprotocol, and no extension."""
    with Peer(site.gateway_port) as peer:
        peer.send(request_bytes, chop=7)
        head = peer.head()
        lines = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])
        assert head.startswith("HTTP/1.1 101 ")
        assert lines["upgrade"] == "websocket" and lines["connection"] == "upgrade"
        assert lines["sec-websocket-accept"] == ACCEPT.lower()
        assert lines["sec-websocket-protocol"] == "tidings.v1.json"
        assert "sec-websocket-extensions" not in lines


@pytest.mark.parametrize("case, status, request_bytes", [
    ("no host (§4.2.1, 2)", 400, handshake(without="host")),
    ("no Upgrade (§4.2.1, 3)", 426, handshake(without="upgrade")),
    ("another Upgrade", 426, handshake(upgrade="h2c")),
    ("no Connection (§4.2.1, 4)", 426, handshake(without="connection")),
    ("another Connection", 426, handshake(connection="close")),
    ("no key (§4.2.1, 5)", 400, handshake(without="sec_websocket_key")),
    ("a short key", 400, handshake(sec_websocket_key="AAAA")),
    ("a key that is no base 64", 400, handshake(sec_websocket_key="!" * 24)),
    ("a key twice", 400, handshake(more=(f"Sec-WebSocket-Key: {KEY}",))),
    ("no version (§4.2.1, 6)", 426, handshake(without="sec_websocket_version")),
    ("an older version (§4.4)", 426, handshake(sec_websocket_version="8")),
    ("a version of the future", 426, handshake(sec_websocket_version="14")),
    ("no subprotocol", 400, handshake(None)),
    ("a subprotocol nobody knows", 400, handshake("chat")),
    ("a subprotocol in capitals, which are others (§4.1, 10)", 400, handshake("TIDINGS.V1.JSON")),
    ("another method (§4.2.1, 1)", 405, handshake(request="POST /v1/connect HTTP/1.1")),
    ("an older HTTP", 505, handshake(request="GET /v1/connect HTTP/1.0")),
    ("another path", 404, handshake(request="GET / HTTP/1.1")),
    ("no HTTP at all", 400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n"),
    ("a header without a name", 400, handshake(more=(": x",))),
    ("a header without a colon", 400, handshake(more=("nothing",))),
    ("a head that is too long", 431, handshake(more=("X-Long: " + "x" * 9_000,))),
    ("a head that never ends", 431, b"GET /v1/connect HTTP/1.1\r\n" + b"x: y\r\n" * 2_000),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_handshake_is_refused_with(site, case, status, request_bytes):
    """§4.2.1: a status, a reason by field and rule, and the end. §4.4: with the version this server speaks."""
    with Peer(site.gateway_port) as peer:
        peer.send(request_bytes)
        head = peer.head()
        assert head.startswith(f"HTTP/1.1 {status} "), head
        body = peer.end()
        problem = json.loads(body)
        assert problem["status"] == status and problem["detail"].startswith(f"{problem['field']} ")
        assert f"content-length: {len(body)}" in head.lower()
        assert (status != 426 or "version" not in case) or "sec-websocket-version: 13" in head.lower()


def test_a_handshake_and_first_frames_may_come_in_one_piece(site):
    with Peer(site.gateway_port) as peer:
        peer.send(handshake() + frame(PING, b"early"))
        assert peer.head().startswith("HTTP/1.1 101 ")
        assert peer.frame() == (PONG, b"early")


# MARK: 1 framing (§5.2)


@pytest.mark.parametrize("length", [24, 125, 126, 127, 128, 65_535, 65_536])
@pytest.mark.parametrize("chop", [None, 997, 1])
def test_1_a_text_of_every_form_of_length(peer, length, chop):
    """1.1: whole and in pieces of TCP."""
    if chop == 1 and length > 1_000:
        chop = 251
    peer.send(frame(TEXT, ping(7, length)), chop=chop)
    is_answered(peer)


def test_1_1_1_an_empty_text_is_no_frame_of_the_client_protocol(peer):
    peer.send(frame(TEXT))
    assert peer.close_code() == INVALID


@pytest.mark.parametrize("length", [0, 125, 126, 127, 128, 65_535, 65_536])
def test_1_2_binary_is_not_of_this_subprotocol(peer, length):
    """§7.4.1: 1003, a kind of data the endpoint cannot accept."""
    peer.send(frame(BINARY, bytes(length)))
    assert peer.close_code() == UNSUPPORTED


@pytest.mark.parametrize("form, length", [(2, 0), (2, 125), (8, 125), (8, 126), (8, 65_535)])
def test_1_a_length_must_have_its_shortest_form(peer, form, length):
    """§5.2: "the minimal number of bytes MUST be used"."""
    peer.send(frame(TEXT, ping(7, length)[:length], length_bytes=form))
    assert peer.close_code() == PROTOCOL_ERROR


def test_1_the_highest_bit_of_a_length_must_be_0(peer):
    """§5.2."""
    peer.send(b"\x81\xff" + b"\xff" * 8 + b"\0" * 4)
    assert peer.close_code() == PROTOCOL_ERROR


def test_1_a_client_must_mask(peer):
    """§5.1: the server closes the connection."""
    peer.send(frame(TEXT, ping(), masked=False))
    assert peer.close_code() == PROTOCOL_ERROR


def test_1_any_mask_will_do(peer):
    """§5.3."""
    for mask in (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7b\x22\x70\x69"):
        peer.send(frame(TEXT, ping(), mask=mask))
        is_answered(peer)


# MARK: 2 pings and pongs (§5.5.2, §5.5.3)


@pytest.mark.parametrize("payload", [b"", b"Hello, world!", bytes(range(10)) + b"\xff\xfe", b"\xfe" * 125], ids=len)
def test_2_a_ping_is_answered_with_its_payload(peer, payload):
    """2.1 to 2.4, 2.6."""
    peer.send(frame(PING, payload), chop=1)
    assert peer.frame() == (PONG, payload)


def test_2_5_a_ping_of_126_bytes_is_too_long(peer):
    peer.send(frame(PING, b"\xfe" * 126))
    assert peer.close_code() == PROTOCOL_ERROR


@pytest.mark.parametrize("payload", [b"", b"unsolicited"], ids=len)
def test_2_7_a_pong_nobody_asked_for_is_passed_over(peer, payload):
    """2.7 to 2.9."""
    peer.send(frame(PONG, payload) + frame(PING, b"after") + frame(TEXT, ping()))
    assert peer.frame() == (PONG, b"after")
    is_answered(peer)


def test_2_10_many_pings_at_once_are_answered_in_order(peer):
    """2.10, 2.11."""
    payloads = [b"payload-%d" % number for number in range(100)]
    peer.send(b"".join(frame(PING, payload) for payload in payloads), chop=13)
    assert [peer.frame() for _ in payloads] == [(PONG, payload) for payload in payloads]


# MARK: 3 reserved bits (§5.2)


@pytest.mark.parametrize("reserved", range(1, 8))
@pytest.mark.parametrize("opcode, payload", [(TEXT, b"{}"), (PING, b""), (CLOSE, b"")], ids=["text", "ping", "close"])
def test_3_reserved_bits_without_an_extension_fail_the_connection(peer, reserved, opcode, payload):
    peer.send(frame(TEXT, ping()) + frame(opcode, payload, reserved=reserved) + frame(PING, b"late"))
    is_answered(peer)
    assert peer.close_code() == PROTOCOL_ERROR


# MARK: 4 opcodes (§5.2)


@pytest.mark.parametrize("opcode", [3, 4, 5, 6, 7, 11, 12, 13, 14, 15])
@pytest.mark.parametrize("payload", [b"", b"reserved"], ids=["empty", "text"])
def test_4_reserved_opcodes_fail_the_connection(peer, opcode, payload):
    peer.send(frame(TEXT, ping()) + frame(opcode, payload) + frame(PING, b"late"))
    is_answered(peer)
    assert peer.close_code() == PROTOCOL_ERROR


# MARK: 5 fragmentation (§5.4)


def fragments(text: bytes, count: int, between: bytes = b"") -> bytes:
    size = -(-len(text) // count)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return between.join(
        frame(0 if index else TEXT, piece, final=index == len(pieces) - 1) for index, piece in enumerate(pieces)
    )


@pytest.mark.parametrize("opcode", [PING, PONG, CLOSE])
def test_5_1_control_frames_must_not_be_fragmented(peer, opcode):
    """5.1, 5.2; §5.5."""
    peer.send(frame(opcode, b"", final=False) + frame(0, b"rest"))
    assert peer.close_code() == PROTOCOL_ERROR


@pytest.mark.parametrize("count", [2, 5, 24])
@pytest.mark.parametrize("chop", [None, 1])
def test_5_3_a_message_in_fragments(peer, count, chop):
    """5.3 to 5.5."""
    peer.send(fragments(ping(), count), chop=chop)
    is_answered(peer)


@pytest.mark.parametrize("chop", [None, 1])
def test_5_6_control_frames_between_fragments_are_answered_at_once(peer, chop):
    """5.6 to 5.8, 5.19, 5.20."""
    peer.send(fragments(ping(), 3, between=frame(PING, b"between")), chop=chop)
    assert [peer.frame(), peer.frame()] == [(PONG, b"between")] * 2
    is_answered(peer)


@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("chop", [None, 1])
def test_5_9_a_continuation_of_nothing_fails_the_connection(peer, final, chop):
    """5.9 to 5.14."""
    peer.send(frame(0, b"non-continuation", final=final) + fragments(ping(), 2), chop=chop)
    assert peer.close_code() == PROTOCOL_ERROR


def test_5_15_a_continuation_after_the_end_fails_the_connection(peer):
    peer.send(fragments(ping(), 2) + frame(0, b"more", final=False))
    is_answered(peer)
    assert peer.close_code() == PROTOCOL_ERROR


def test_5_18_a_message_within_a_message_fails_the_connection(peer):
    peer.send(frame(TEXT, b"one", final=False) + frame(TEXT, b"two"))
    assert peer.close_code() == PROTOCOL_ERROR


def test_5_empty_fragments_are_nothing(peer):
    peer.send(frame(TEXT, b"", final=False) + frame(0, b"", final=False) * 50 + frame(0, ping()))
    is_answered(peer)


# MARK: 6 UTF-8 (§5.6, §8.1)

BAD_UTF8 = {
    "6.3 a surrogate in the middle": b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited",
    "6.6 half a character": b"\xce\xba\xe1\xbd",
    "6.8 five bytes": b"\xf8\x88\x80\x80\x80",
    "6.8 six bytes": b"\xfc\x84\x80\x80\x80\x80",
    "6.10 beyond the last character": b"\xf7\xbf\xbf\xbf",
    "6.12 a continuation alone": b"\x80",
    "6.13 starts without an end": b"\xc0 \xc1 \xc2 ",
    "6.14 the last byte missing": b"\xf0\x80\x80",
    "6.16 impossible bytes": b"\xfe\xff",
    "6.17 a slash, too long": b"\xc0\xaf",
    "6.18 the largest that is too long": b"\xf0\x8f\xbf\xbf",
    "6.19 a NUL, too long": b"\xc0\x80",
    "6.20 a surrogate alone": b"\xed\xa0\x80",
    "6.21 a pair of surrogates": b"\xed\xa0\x80\xed\xb0\x80",
}


@pytest.mark.parametrize("bad", BAD_UTF8.values(), ids=BAD_UTF8.keys())
@pytest.mark.parametrize("count", [1, 4])
def test_6_a_text_that_is_no_utf_8_fails_the_connection(peer, bad, count):
    """6.3, 6.4, 6.6, 6.8 to 6.21. A message in fragments is looked at when it is whole, which Autobahn calls non-strict: the
    fragments have a limit of size, and nothing of them is used before."""
    peer.send(fragments(b'{"ping":{"nonce":"' + bad + b'"}}', count))
    assert peer.close_code() == INVALID


@pytest.mark.parametrize("good", ["κόσμε", "\0x".replace("\0", "\u0001"), "\u07ff\u0800\uffff", "\U00010000\U0010ffff",
                                  "\ufffd\ufffe\U0001fffe"], ids=ascii)
@pytest.mark.parametrize("count", [1, 40])
def test_6_texts_that_are_utf_8_are_taken(peer, good, count):
    """6.1, 6.2, 6.5, 6.7, 6.9, 6.11, 6.22, 6.23: also cut within a character."""
    text = json.dumps({"ping": {"nonce": "7"}, "x": good}, ensure_ascii=False).encode()
    peer.send(fragments(text, count), chop=1)
    is_answered(peer)


# MARK: 7 closing (§5.5.1, §7)


def test_7_1_frames_before_a_close_are_answered_and_those_after_it_are_not(peer):
    """7.1.1, 7.1.3, 7.1.4."""
    peer.send(frame(TEXT, ping(1)) + close(NORMAL) + frame(TEXT, ping(2)) + frame(PING, b"late"))
    is_answered(peer, 1)
    assert peer.frames_until_end() == [(CLOSE, NORMAL.to_bytes(2, "big"))]


def test_7_1_2_a_second_close_is_passed_over(peer):
    peer.send(close(NORMAL) + close(NORMAL))
    assert peer.close_code() == NORMAL


def test_7_1_5_a_close_within_a_message_ends_it(peer):
    """7.1.5, 7.1.6."""
    peer.send(frame(TEXT, b'{"ping"', final=False) + close(NORMAL) + frame(0, b"..."))
    assert peer.close_code() == NORMAL


def test_7_3_1_an_empty_close_is_answered(peer):
    peer.send(close())
    assert peer.close_code() == NORMAL


def test_7_3_2_a_close_of_one_byte_is_a_fault(peer):
    peer.send(frame(CLOSE, b"a"))
    assert peer.close_code() == PROTOCOL_ERROR


@pytest.mark.parametrize("reason", [b"", b"Hello World!", "κόσμε".encode(), b"*" * 123], ids=len)
def test_7_3_3_a_close_with_a_code_and_a_reason_is_answered_with_the_code(peer, reason):
    """7.3.3 to 7.3.5."""
    peer.send(close(NORMAL, reason))
    assert peer.close_code() == NORMAL


def test_7_3_6_a_close_of_126_bytes_is_a_fault(peer):
    peer.send(close(NORMAL, b"*" * 124))
    assert peer.close_code() == PROTOCOL_ERROR


def test_7_5_1_a_reason_must_be_utf_8(peer):
    peer.send(close(NORMAL, b"\xce\xba\xe1\xbd\xb9\xed\xa0\x80"))
    assert peer.close_code() == INVALID


@pytest.mark.parametrize("code", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999])
def test_7_7_codes_that_may_be_sent_are_answered(peer, code):
    peer.send(close(code))
    assert peer.close_code() == code


@pytest.mark.parametrize("code", [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])
def test_7_9_codes_that_must_not_be_sent_are_a_fault(peer, code):
    """7.9, 7.13; §7.4."""
    peer.send(close(code))
    assert peer.close_code() == PROTOCOL_ERROR


def test_7_the_server_hangs_up_on_a_client_that_does_not_answer_its_close(peer):
    """§7.1.1: the server closes the connection first."""
    peer.send(frame(TEXT, b"not JSON"))
    assert peer.frame()[0] == TEXT and peer.frame() == (CLOSE, INVALID.to_bytes(2, "big"))
    assert peer.end() == b""


# MARK: 9 limits and performance


def test_9_a_message_of_the_limit_is_taken_and_one_more_byte_is_not(peer):
    peer.send(frame(TEXT, ping(1, FRAME_MAX)))
    is_answered(peer, 1)
    peer.send(frame(TEXT, ping(2, FRAME_MAX + 1)))
    assert peer.close_code() == TOO_BIG


def test_9_a_message_that_is_too_long_is_refused_by_its_header(peer):
    """Nothing of it is waited for or kept."""
    peer.send(b"\x81\xff" + (1 << 40).to_bytes(8, "big") + b"\0" * 4)
    assert peer.close_code() == TOO_BIG


def test_9_fragments_have_the_limit_together(peer):
    peer.send(frame(TEXT, b" " * 40_000, final=False) + frame(0, b" " * 40_000))
    assert peer.close_code() == TOO_BIG


def test_9_before_the_hello_the_limit_is_lower(site):
    """docs/server/protocol.md: 16,384 bytes before the welcome."""
    with Peer(site.gateway_port) as peer:
        peer.send(handshake() + frame(TEXT, b" " * 16_385))
        assert peer.head().startswith("HTTP/1.1 101 ")
        assert peer.close_code() == TOO_BIG


def test_9_thousands_of_messages_in_a_row(peer):
    for start in range(1, 3_000, 100):
        peer.send(b"".join(frame(TEXT, ping(number)) for number in range(start, start + 100)))
        for number in range(start, start + 100):
            is_answered(peer, number)


def test_9_a_large_message_in_many_small_fragments_and_pieces(peer):
    peer.send(fragments(ping(7, FRAME_MAX), 1_024), chop=64)
    is_answered(peer)


# MARK: 10 and what belongs to no group


def test_10_any_mixture_that_is_right_is_understood(peer):
    """10.1: sizes, fragments and pieces drawn by chance."""
    chance = random.Random(6_455)
    for number in range(1, 40):
        text = ping(number, chance.choice([0, 125, 126, 4_000, 65_535]))
        peer.send(
            fragments(text, chance.randrange(1, 8), between=chance.choice([b"", frame(PONG, b"x")])),
            chop=chance.choice([None, 1_460, 4_096]))
        is_answered(peer, number)


def test_10_a_protobuf_client_gets_binary_and_may_not_send_text(site):
    with Peer(site.gateway_port) as peer:
        peer.send(handshake("tidings.v1.protobuf"))
        assert "sec-websocket-protocol: tidings.v1.protobuf" in peer.head().lower()
        peer.send(frame(TEXT, b"{}"))
        frames = peer.frames_until_end()
        assert frames[0][0] == BINARY and frames[-1] == (CLOSE, UNSUPPORTED.to_bytes(2, "big"))
