"""Clients that offer another protocol with a request, as Java's HttpClient and `curl --http2` do (RFC 9110, section 7.8):
the HTTP API and the control port of the local APNs pass over the offer, and the connection goes on."""

from __future__ import annotations

import socket
import subprocess

import pytest

from apple import Apple

OFFERS = [
    # Java's HttpClient, and curl.
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n",
    "connection: keep-alive, upgrade\r\nupgrade: websocket\r\n",
]


@pytest.fixture(params=["api", "control"])
def service(request) -> tuple[int, str]:
    """A port and a path that is there without credentials."""
    if request.param == "api":
        return request.getfixturevalue("site").api_port, "/readyz"
    apple = Apple(request.getfixturevalue("tmp_path"))
    request.addfinalizer(apple.stop)
    return apple.control_port, "/metrics"


def answer(stream) -> tuple[int, bytes]:
    """One answer, read to its end."""
    status = int(stream.readline().split()[1])
    length = 0
    while line := stream.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return status, stream.read(length)


@pytest.mark.parametrize("offer", OFFERS, ids=["h2c", "websocket"])
@pytest.mark.parametrize("is_pipelined", [False, True], ids=["one-by-one", "pipelined"])
def test_a_connection_goes_on_after_an_offer(service, offer, is_pipelined):
    port, path = service
    plain = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
    # The second has a body, the third offers again, the fourth does not.
    parts = [
        plain + offer + "\r\n", plain + offer + "Content-Length: 5\r\n\r\nhello", plain + offer + "\r\n", plain + "\r\n",
    ]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client, client.makefile("rb") as stream:
        if is_pipelined:
            client.sendall("".join(parts).encode())
        for part in parts:
            if not is_pipelined:
                client.sendall(part.encode())
            assert answer(stream)[0] == 200


def test_curl_asks_twice_over_one_connection(service):
    port, path = service
    address = f"http://127.0.0.1:{port}{path}"
    done = subprocess.run(
        [
            "curl", "--http2", "--silent", "--show-error", "--max-time", "20", "--output", "/dev/null", "--output", "/dev/null",
            "--write-out", "%{http_version} %{http_code} %{num_connects}\n", address, address,
        ],
        capture_output=True, text=True, timeout=60,
    )
    assert (done.stdout.split("\n"), done.stderr) == (["1.1 200 1", "1.1 200 0", ""], "")
