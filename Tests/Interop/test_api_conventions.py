"""What holds for every route of the HTTP API: repeats under a key, pages, limits and ids of requests, on a server that is killed."""

import concurrent.futures
import http.client
import json
import socket
import urllib.error
import urllib.request

import pytest

from conftest import Site

TEAM = "/v1/apps/demo/conversations/GRP/team"


def ask(site: Site, method: str, path: str, body=None, **headers: str):
    """Status, headers and JSON of an answer, whatever it is."""
    base = site.phone if path.startswith("/v1/extension/") else site.api
    request = urllib.request.Request(
        base + path, method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {site.api_key}", **{name.replace("_", "-"): text for name, text in headers.items()}})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            status, fields, text = answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        status, fields, text = error.code, error.headers, error.read()
    told = json.loads(text) if text else None
    site.check_described(method, path, status, problem=told if status >= 400 else None)
    return status, fields, told


def message(number: int) -> dict:
    return {
        "sender": "alice", "client_message_id": f"c{number}", "conversation": {"type": "PR", "target": "bob"},
        "content": "{\"content\":\"hi\"}",
    }


def test_a_repeat_gets_the_first_answer_after_the_server_was_killed(site):
    requests = [
        ("/v1/apps/demo/messages", message(1)),
        ("/v1/apps/demo/custom-messages", {"recipients": ["bob"], "client_message_id": "x", "content": "c"}),
        (TEAM, {"name": "T", "members": ["alice"]}),
        (f"{TEAM}/members", {"users": ["bob"]}),
        ("/v1/apps/demo/tokens", {"user": "alice"}),
        ("/v1/apps/demo/users/bob/revoke-tokens", {}),
    ]

    def answers(change=lambda body: body):
        told = []
        for number, (path, body) in enumerate(requests):
            status, _, answer = ask(site, "POST", path, change(body), Idempotency_Key=f"\"k{number}\"")
            told.append((status, answer))
        return told

    first = answers()
    assert [status for status, _ in first] == [201, 201, 201, 204, 201, 204]
    # Bob leaves: without the key the repeat would add him again.
    ask(site, "DELETE", f"{TEAM}/members/bob")
    assert answers() == first
    site.server.kill()
    site.start()
    assert answers() == first
    assert [member["user"] for member in site.call("GET", TEAM)["members"]] == ["alice"]
    # What breaks a rule of its own is told that first.
    assert {status for status, _ in answers(lambda body: {**body, "unknown": 1})} == {400}


def test_whoever_was_cut_off_by_a_kill_repeats_and_nobody_is_told_that_it_exists(site):
    def create(number):
        path = f"/v1/apps/demo/conversations/GRP/g{number}"
        request = urllib.request.Request(
            site.api + path, method="POST", data=b"{\"name\":\"G\",\"members\":[]}",
            headers={"Authorization": f"Bearer {site.api_key}", "Idempotency-Key": f"\"g{number}\""})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())["code"]
        except (OSError, http.client.HTTPException):
            return "cut off"

    cut_off = 0
    for start in range(0, 900, 300):
        numbers = range(start, start + 300)
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            asked = [pool.submit(create, number) for number in numbers]
            # Somewhere in the middle.
            asked[120].result()
            site.server.kill()
            told = [future.result() for future in asked]
        assert set(told) <= {201, "cut off"}
        cut_off += told.count("cut off")
        site.start()
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            assert set(pool.map(create, numbers)) == {201}
    assert cut_off > 0


def test_the_same_key_for_something_else_is_refused(site):
    def send(body, **headers):
        return ask(site, "POST", "/v1/apps/demo/messages", body, **headers)

    status, _, first = send(message(1), Idempotency_Key="k")
    assert status == 201
    status, _, problem = send(message(2), Idempotency_Key="\"k\"")
    assert (status, problem["code"], problem["field"]) == (422, "idempotency_key_reused", "Idempotency-Key")
    assert send(message(2))[0] == 201
    # A refusal keeps no key.
    to_nobody = {**message(3), "conversation": {"type": "GRP", "target": "team"}}
    assert send(to_nobody, Idempotency_Key="later")[0] == 404
    site.call("POST", TEAM, {"name": "T", "members": ["alice"]})
    assert send(to_nobody, Idempotency_Key="later")[0] == 201


def test_of_many_at_once_one_is_carried_out(site):
    def send(_):
        return ask(site, "POST", TEAM, {"name": "T", "members": ["alice"]}, Idempotency_Key="once")

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        told = [(status, (answer or {}).get("code")) for status, _, answer in pool.map(send, range(64))]
    assert set(told) <= {(201, None), (409, "idempotency_key_in_use")}
    assert (201, None) in told
    assert site.call("GET", TEAM)["version"] == 1


def test_an_app_uses_no_more_keys_than_it_may(make_site):
    site = make_site(settings={"api": {"idempotency_keys_max": 2}}).start()
    for number, status in enumerate([201, 201, 429]):
        got, fields, _ = ask(site, "POST", "/v1/apps/demo/messages", message(number), Idempotency_Key=f"k{number}")
        assert got == status
    assert 86_000 < int(fields["Retry-After"]) <= 86_400
    assert ask(site, "POST", "/v1/apps/demo/messages", message(0), Idempotency_Key="k0")[0] == 201


def test_a_history_is_read_page_by_page_while_others_write(site):
    ids = [site.call("POST", "/v1/apps/demo/messages", message(number))["message_id"] for number in range(7)]
    path = "/v1/apps/demo/conversations/PR/alice/messages?user=bob&limit=3"
    pages, cursor = [], ""
    while True:
        page = site.call("GET", path + cursor)
        pages.append([entry["message_id"] for entry in page["messages"]])
        # Something new, and the element the cursor names is gone.
        site.call("POST", "/v1/apps/demo/messages", message(100 + len(pages)))
        site.call("DELETE", f"/v1/apps/demo/messages/{pages[-1][-1]}")
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert [entry for page in pages for entry in page] == ids[::-1]
    for bad in ["x", page["next"] or "AAAA"]:
        status, _, problem = ask(site, "GET", f"{path}&cursor={bad}")
        assert (status, problem["field"]) == (400, "cursor")


def test_limits_are_told_as_they_are_counted(make_site):
    site = make_site(settings={"limits": {"app": {"requests": "1/5"}}}).start()
    settings = "/v1/apps/demo/users/bob/settings"
    status, fields, _ = ask(site, "GET", settings)
    assert (status, fields["RateLimit-Policy"]) == (200, "\"app.requests\";q=5;w=5")
    assert fields["RateLimit"].startswith("\"app.requests\";r=4;t=")
    for _ in range(20):
        status, fields, problem = ask(site, "GET", settings)
        if status == 429:
            break
    assert (status, problem["code"]) == (429, "rate_limited")
    assert fields["RateLimit"].startswith("\"app.requests\";r=0;t=") and int(fields["Retry-After"]) >= 1
    # A bad request is told, too; who has no key is not, nor is anything told of what is not limited.
    assert ask(site, "GET", f"{settings}?x=1")[1]["RateLimit"]
    assert ask(site, "GET", settings, Authorization="Bearer wrong")[1]["RateLimit"] is None
    assert ask(site, "GET", "/v1/apps/demo/accounts")[1]["RateLimit"] is None


@pytest.mark.parametrize("path", ["/v1/apps/demo/accounts", "/v1/extension/missed?after=0", "/v1/lunch", "/healthz"])
def test_every_answer_names_its_request(site, path):
    assert ask(site, "GET", path, X_Request_Id="mine-1")[1]["X-Request-Id"] == "mine-1"
    for bad in ["two words", "x" * 129]:
        request = urllib.request.Request(
            (site.phone if "extension" in path else site.api) + path,
            headers={"X-Request-Id": bad, "Authorization": f"Bearer {site.api_key}"})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                made = answer.headers["X-Request-Id"]
        except urllib.error.HTTPError as error:
            made = error.headers["X-Request-Id"]
            assert json.loads(error.read())["request_id"] == made
        assert len(made) == 16 and made != bad


def test_a_request_is_found_in_the_audit_log_by_its_id(make_site, tmp_path):
    path = tmp_path / "audit.log"
    site = make_site(settings={"log": {"audit_path": str(path)}}).start()
    ask(site, "GET", "/v1/apps/demo/accounts?x=1", X_Request_Id="find-me")
    site.server.stop()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["status"], line["code"]) for line in lines if line["request"] == "find-me"] == [("400", "invalid_field")]


@pytest.mark.parametrize("start, rule", [
    (b"GET /v1/apps?cursor=" + b"x" * 81_920 + b" HTTP/1.1\r\n", "a request line and headers of at most 81920 bytes, and 1000 headers"),
    # More than a socket holds: the client has not sent it all when it is answered.
    (b"GET /v1/apps?cursor=" + b"x" * 20_000_000 + b" HTTP/1.1\r\n", "a request line and headers of at most 81920 bytes, and 1000 headers"),
    (b"GET /v1/apps HTTP/1.1\r\nX-Long: " + b"x" * 81_920 + b"\r\n", "a request line and headers of at most 81920 bytes, and 1000 headers"),
    (b"GET /v1/apps HTTP/1.1\r\n" + b"X-Many: x\r\n" * 1_001, "a request line and headers of at most 81920 bytes, and 1000 headers"),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n", "an HTTP/1.1 request (RFC 9112)"),
    (b"hello\r\n", "an HTTP/1.1 request (RFC 9112)"),
], ids=["long address", "very long address", "long header", "many headers", "HTTP/2", "no HTTP"])
def test_a_request_that_cannot_be_read_is_told_why_and_the_connection_is_closed(site, start, rule):
    with socket.create_connection(("127.0.0.1", site.api_port), timeout=20) as client:
        client.sendall(start + b"Host: localhost\r\n\r\n")
        answer = http.client.HTTPResponse(client)
        answer.begin()
        problem = json.loads(answer.read())
        assert answer.status == 400 and answer.headers["Connection"] == "close"
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert problem["code"] == "bad_request" and problem["field"] == "request" and rule in problem["detail"]
        assert problem["request_id"] == answer.headers["X-Request-Id"]
        assert client.recv(1) == b""
