"""Operators' sessions with a running server, over HTTP as browsers speak it, and the tool at a terminal that prints the first link."""

import json
import os
import pty
import re
import subprocess
import urllib.error
import urllib.request

import pytest
from conftest import Site, tool
from test_apps import Operator, first_operator

PASSWORD = "a long pass phrase"


class Browser:
    """What a browser keeps of a sign-in: the cookie, and what the page was told."""

    def __init__(self, site: Site):
        self.site = site
        self.cookie = ""
        self.token = ""

    def ask(self, method: str, path: str, body: dict | None = None, **headers: str):
        """The status, the head and the JSON of the answer."""
        request = urllib.request.Request(
            self.site.api + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={
                **({"Cookie": self.cookie} if self.cookie else {}),
                **({"X-CSRF-Token": self.token} if self.token and method != "GET" else {}),
                **{name.replace("_", "-"): text for name, text in headers.items()},
            })
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                status, head, text = answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            status, head, text = error.code, error.headers, error.read()
        told = json.loads(text) if text else None
        self.site.check_described(method, path, status, problem=told if status >= 400 else None)
        return status, head, told

    def sign_in(self, **body: str) -> dict:
        status, head, told = self.ask("POST", "/v1/session", body)
        assert status == 200, told
        cookie = head["Set-Cookie"]
        assert re.fullmatch(r"__Host-tidings=[A-Za-z0-9_-]{43}; Path=/; Secure; HttpOnly; SameSite=Strict", cookie)
        self.cookie, self.token = cookie.partition(";")[0], told["csrf_token"]
        return told


@pytest.fixture
def anna(make_site) -> Operator:
    anna = first_operator(make_site().start())
    anna.call("PUT", "/v1/operators/anna/password", {"password": PASSWORD})
    return anna


def test_a_session_opens_what_the_key_opens_until_it_ends_and_survives_a_kill(anna):
    site = anna.site
    browser = Browser(site)
    told = browser.sign_in(operator="anna", password=PASSWORD)
    assert (told["operator"], told["role"], told["expires_at"] - told["signed_in_at"]) == ("anna", "administer", 43_200_000)
    assert browser.ask("POST", "/v1/apps", {"id": "shop"})[0] == 201
    site.server.kill()
    site.start()
    # What goes with the cookie is told once.
    assert browser.ask("GET", "/v1/session")[2] == {name: text for name, text in told.items() if name != "csrf_token"}
    assert [it["id"] for it in browser.ask("GET", "/v1/apps")[2]["apps"]] == ["demo", "shop"]
    # A push to nobody is one of few.
    audience = {"audience": {"everybody": True}}
    assert browser.ask("POST", "/v1/apps/shop/pushes", {"notification": {"text": "x"}, **audience})[0] == 202
    status, head, _ = browser.ask("DELETE", "/v1/session")
    assert status == 204 and head["Set-Cookie"].startswith("__Host-tidings=;") and "Max-Age=0" in head["Set-Cookie"]
    assert browser.ask("GET", "/v1/session")[0] == 401
    records = anna.call("GET", "/v1/audit?limit=5")["records"]
    assert [it["action"] for it in records] == ["sign_out", "POST pushes", "create_app", "sign_in", "set_password"]


def test_another_site_s_page_does_nothing_with_the_cookie(anna):
    browser = Browser(anna.site)
    browser.sign_in(operator="anna", password=PASSWORD)
    token, browser.token = browser.token, ""
    status, _, problem = browser.ask("POST", "/v1/apps", {"id": "shop"})
    assert (status, problem["code"]) == (403, "csrf")
    browser.token = token
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}):
        status, _, problem = browser.ask("POST", "/v1/apps", {"id": "shop"}, **headers)
        assert (status, problem["code"]) == (403, "csrf"), headers
    status, _, problem = browser.ask("GET", "/v1/apps", Host="evil.example")
    assert (status, problem["code"]) == (421, "unknown_host")
    assert browser.ask("POST", "/v1/apps", {"id": "shop"}, Origin=anna.site.api, Sec_Fetch_Site="same-origin")[0] == 201


def test_wrong_passwords_make_an_address_wait_and_a_name_slow_but_lock_nobody_out(make_site):
    site = make_site(settings={"proxy": {"addresses": ["127.0.0.1"]}, "console": {"local": "true"}}).start()
    anna = first_operator(site)
    anna.call("PUT", "/v1/operators/anna/password", {"password": PASSWORD})

    def sign_in(address: str, password: str, name: str = "anna"):
        return Browser(site).ask(
            "POST", "/v1/session", {"operator": name, "password": password}, X_Forwarded_For=address, X_Forwarded_Proto="https")

    assert sign_in("192.0.2.7", PASSWORD)[0] == 200
    # Names that nobody has: a name's own slowness is another matter.
    statuses = [sign_in("198.51.100.1", "wrong", f"nobody{number}")[0] for number in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    status, head, problem = sign_in("198.51.100.1", PASSWORD)
    assert (status, problem["code"]) == (429, "rate_limited") and 1 <= int(head["Retry-After"]) <= 30
    for number in range(4):
        assert sign_in(f"203.0.113.{number}", "wrong")[0] == 401
    assert sign_in("192.0.2.7", PASSWORD)[0] == 200
    assert sign_in("192.0.2.8", PASSWORD)[0] == 200
    assert sign_in("192.0.2.7", PASSWORD)[0] == 200
    # Over plain HTTP from elsewhere nobody signs in at all.
    status, _, problem = Browser(site).ask(
        "POST", "/v1/session", {"operator": "anna", "password": PASSWORD}, X_Forwarded_For="192.0.2.7", X_Forwarded_Proto="http")
    assert (status, problem["code"]) == (403, "tls_required")


def test_a_password_and_a_removal_end_sessions_and_their_streams(anna):
    site = anna.site
    anna.add("vera", "view")

    def stream_ends(password: str, end) -> None:
        browser = Browser(site)
        browser.sign_in(operator="vera", password=password)
        request = urllib.request.Request(f"{site.api}/v1/apps/demo/events", headers={"Cookie": browser.cookie})
        with urllib.request.urlopen(request, timeout=60) as stream:
            assert stream.readline().startswith(b"retry")
            end()
            # Until the server closes it.
            stream.read()
        assert browser.ask("GET", "/v1/session")[0] == 401

    anna.call("PUT", "/v1/operators/vera/password", {"password": PASSWORD})
    stream_ends(PASSWORD, lambda: anna.call("PUT", "/v1/operators/vera/password", {"password": f"{PASSWORD}!"}))
    stream_ends(f"{PASSWORD}!", lambda: anna.call("DELETE", "/v1/operators/vera"))


def at_terminal(*arguments: str, **variables: str) -> str:
    """What the tool prints on a terminal, with these variables beside the usual ones."""
    person, terminal = pty.openpty()
    process = subprocess.Popen([tool(), *arguments], stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.STDOUT, env={**os.environ, **variables})
    os.close(terminal)
    text = b""
    try:
        while part := os.read(person, 4_096):
            text += part
    except OSError:
        # Linux: the other side is gone.
        pass
    os.close(person)
    assert process.wait(60) == 0, text
    return text.decode()


def test_the_first_one_signs_in_by_a_link_that_is_printed_at_a_terminal_only(make_site):
    site = make_site().start()
    piped = subprocess.run([tool(), "console", "link", "--store", str(site.database)], capture_output=True, text=True, timeout=60)
    assert piped.returncode == 1 and "terminal" in piped.stderr and "link=" not in piped.stdout + piped.stderr
    link = at_terminal("console", "link", "--store", str(site.database)).strip()
    address, _, secret = link.partition("#link=")
    assert address == f"{site.api}/console/"
    with urllib.request.urlopen(address, timeout=20) as page:
        assert page.headers["Content-Type"].startswith("text/html")
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    browser = Browser(site)
    told = browser.sign_in(link=secret)
    assert (told["operator"], told["role"], told["has_password"]) == ("local", "administer", False)
    assert browser.ask("PUT", "/v1/operators/local/password", {"password": PASSWORD})[0] == 204
    status, _, problem = Browser(site).ask("POST", "/v1/session", {"link": secret})
    assert (status, problem["code"]) == (401, "sign_in_refused")
    assert Browser(site).sign_in(operator="local", password=PASSWORD)["operator"] == "local"
    # Neither link nor password is anywhere on the disk, nor in the log.
    for file in site.folder.rglob("*"):
        if file.is_file():
            held = file.read_bytes()
            assert secret.encode() not in held and PASSWORD.encode() not in held, file


def test_the_root_leads_to_the_console(make_site):
    site = make_site().start()
    with urllib.request.urlopen(site.api, timeout=20) as page:
        assert page.url == f"{site.api}/console/" and page.status == 200
