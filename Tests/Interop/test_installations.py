"""Installations without sign-in: anonymous people, made with a client key of the app, over real sockets, with the local APNs and phones."""

from __future__ import annotations

import json
import time
import urllib.error

import jwt
import pytest
from conftest import TOPIC, Site
from phone import Phone
from phone_stage import SETTINGS, bodies, freeze, kill, rings
from test_apps import first_operator
from test_push_tokens import Courier
from test_pushes import TAGS, Pushes, run
from tidings_client import Client, Refused

EVERYBODY = {"everybody": True}


def refused(call) -> tuple[int, str, dict]:
    """Status, code and headers of a request that has to be refused."""
    with pytest.raises(urllib.error.HTTPError) as raised:
        call()
    return raised.value.code, json.loads(raised.value.read())["code"], raised.value.headers


class Installations:
    """A site whose app has a client key."""

    def __init__(self, site: Site):
        self.site = site
        self.operator = first_operator(site)
        self.key = self.add_key("ios")

    def add_key(self, name: str, app: str | None = None) -> str:
        return self.operator.call("POST", f"/v1/apps/{app or self.site.app}/client-keys", {"name": name})["key"]

    def make(self, key: str | None = None, address: str | None = None) -> dict:
        headers = {"X-Forwarded-For": address} if address else {}
        return self.site.call("POST", "/v1/installations", {}, key=key or self.key, headers=headers)

    def renew(self, user: str, renewal: str) -> dict:
        return self.site.call("POST", f"/v1/installations/{user}/token", {}, key=renewal)

    def device(self, user: str) -> dict | None:
        devices = self.site.call("GET", f"/v1/apps/{self.site.app}/users/{user}/devices")["devices"]
        return devices[0] if devices else None


class GuestPhone(Phone):
    """A phone with the app of a person who may not have a token of the backend's."""

    def __init__(self, site: Site, guest: dict, name: str):
        variables = {
            "CHAT_SERVER_URL": site.gateway, "CHAT_APP_KEY": site.app, "CHAT_USER": guest["user"], "CHAT_TOKEN": guest["token"],
            "CHAT_API_URL": site.phone}
        options = [option for name_of, value in variables.items() for option in ("--env", f"{name_of}={value}")]
        super().__init__(site, guest["user"], "--background-time", "8000", *options, name=name, is_signed_in=False)

    def start(self, installations: Installations):
        self.do("unlock")
        self.do("launch")
        self.wait_for_connection()
        self.wait_until(
            lambda: (device := installations.device(self.user)) and device["push"] != "none", "the device token")
        self.begin()
        return self


def client(site: Site, token: str, device: str = "phone") -> Client:
    return Client(site.gateway, token, device=device)


async def register(site: Site, token: str, push_token: str, device: str = "phone", signs_out: bool = False):
    """Connects, tells a device token, and is gone."""
    connection = client(site, token, device)
    await connection.connect()
    if push_token:
        await connection.register_push(push_token, TOPIC, is_answered=True)
    if signs_out:
        await connection.raw({"signOut": {}})
        await connection.wait_for(lambda: connection.is_closed)
    await connection.close()


def accepted(site: Site) -> list[dict]:
    return [entry for entry in site.delivery_log() if entry["event"] == "accepted"]


@pytest.fixture
def stage(make_site):
    return Installations(make_site(with_apns=True, settings=SETTINGS).start())


# To phones, as people see it.


def test_everybody_without_sign_in_gets_a_push_whatever_state_the_app_is_in(stage):
    pushes = Pushes(stage.site)
    phones = [GuestPhone(stage.site, stage.make(), f"phone{number}") for number in range(3)]
    try:
        open_app, frozen, killed = [phone.start(stage) for phone in phones]
        freeze(frozen)
        kill(killed)
        push = pushes.send(EVERYBODY)
        for phone in (frozen, killed):
            rings(phone, pushes.wait_for_message(push, phone.user), badge=0)
            assert bodies(phone) == ["Everything half price"]
        message = pushes.wait_for_message(push, open_app.user)
        # On the open app it is shown as the app shows what comes to it there.
        found = pushes.wait_for(push, "done", accepted=2, settled=1)
        assert found["progress"]["recipients"] == 3 and message
        assert [phone.faults for phone in phones] == [[], [], []]
    finally:
        for phone in phones:
            phone.stop()


# By the SDK of the example app.


def test_the_app_is_pushed_to_before_and_after_somebody_is_signed_in(make_site):
    site = make_site(with_apns=True, settings=SETTINGS, app_settings=TAGS).start()
    installations, pushes = Installations(site), Pushes(site)
    variables = {
        "CHAT_SERVER_URL": site.gateway, "CHAT_APP_KEY": site.app, "CHAT_API_URL": site.phone, "CHAT_CLIENT_KEY": installations.key}
    options = [option for name, value in variables.items() for option in ("--env", f"{name}={value}")]
    phone = Phone(site, "nobody", "--background-time", "8000", *options, is_signed_in=False)

    def wait_for_person(is_theirs) -> str:
        """Who the SDK says it is, once the server has the phone's token of them."""

        def look():
            user = phone.shown.get("user") or ""
            return is_theirs(user) and (device := installations.device(user)) and device["push"] != "none"

        phone.wait_until(look, "the device token")
        return phone.shown["user"]

    def rings_killed(user: str):
        phone.begin()
        kill(phone)
        push = pushes.send(EVERYBODY)
        rings(phone, pushes.wait_for_message(push, user), badge=0)
        pushes.wait_for(push, "done", accepted=1)
        phone.do("launch")
        phone.wait_for_connection()

    try:
        phone.do("unlock")
        phone.do("launch")
        guest = wait_for_person(lambda user: user.startswith("anon-"))
        rings_killed(guest)
        # The next process is the same person, and what it calls them is what audiences ask for.
        assert wait_for_person(lambda user: user) == guest
        phone.do("input", value={"tags": ["shoes"]})
        phone.wait_until(lambda: pushes.count({"tag": "shoes"}) == 1, "the tag")

        phone.do("input", value={"sign_in": {"user": "bob", "token": site.token("bob")}})
        wait_for_person(lambda user: user == "bob")
        phone.wait_until(lambda: installations.device(guest) is None, "the anonymous person to have gone")
        assert pushes.count(EVERYBODY) == 1 and pushes.count({"tag": "shoes"}) == 0

        phone.do("input", value={"sign_out": True})
        assert wait_for_person(lambda user: user.startswith("anon-")) == guest
        phone.wait_until(lambda: installations.device("bob") is None, "bob to have gone")
        rings_killed(guest)
        assert phone.faults == []
    finally:
        phone.stop()


# Signing in and out.


def test_signing_in_moves_the_phone_to_the_person_who_gets_everything_once(stage):
    site, pushes = stage.site, Pushes(stage.site)
    token = Courier(site, "phone").token()
    guest = stage.make()

    def pushed(text: str, **ends: int) -> str:
        push = pushes.send(EVERYBODY, text)
        pushes.wait_for(push, "done", **ends)
        return push

    run(register(site, guest["token"], token))
    pushed("one", accepted=1)
    assert len(accepted(site)) == 1

    # The app crashes between its two steps: both are signed in, and the phone is the person's alone.
    run(register(site, site.token("bob"), token))
    assert stage.device(guest["user"])["push"] == "none"
    both = pushed("two", accepted=1, no_token=1)
    assert len(accepted(site)) == 2
    assert pushes.backend.ends(pushes.message(both, "bob"), "bob") == ["accepted"]

    # Then it signs the anonymous person out, who is in no audience any more.
    run(register(site, guest["token"], "", signs_out=True))
    assert stage.device(guest["user"]) is None
    alone = pushed("three", accepted=1)
    assert pushes.message(alone, guest["user"]) is None
    assert len(accepted(site)) == 3

    # Signing out with the return: the same anonymous person, with the token that their renewal brings.
    run(register(site, site.token("bob"), "", signs_out=True))
    again = stage.renew(guest["user"], guest["renewal"])
    run(register(site, again["token"], token))
    back = pushed("four", accepted=1)
    assert pushes.message(back, guest["user"]) and pushes.message(back, "bob") is None

    # And without: nobody is there.
    run(register(site, again["token"], "", signs_out=True))
    assert pushes.count(EVERYBODY) == 0


def test_what_waits_for_the_anonymous_person_ends_by_name_when_the_phone_is_somebody_elses(stage):
    site = stage.site
    token = Courier(site, "phone").token()
    guest = stage.make()
    run(register(site, guest["token"], token))
    backend = Pushes(site).backend
    backend.set_person(guest["user"], quiet_hours={
        "start": 0, "end": 1439, "weekdays": [1, 2, 3, 4, 5, 6, 7], "time_zone": "UTC", "manner": "defer"})
    message = backend.say("news", guest["user"], "hello", kind="PR")
    backend.wait_for_open_leg(message, guest["user"], "quiet_hours")
    run(register(site, site.token("bob"), token))
    backend.wait_for_ends(message, guest["user"], "no_token")
    assert accepted(site) == []


# Tokens of another service.


def bring(site: Site, *lines: dict, **headers: str) -> list[dict]:
    return site.call("POST", f"/v1/apps/{site.app}/installations", {"installations": list(lines)}, headers=headers)["results"]


def line(token: str, **more) -> dict:
    return {"token": token, "environment": "sandbox", "topic": TOPIC, **more}


def test_tokens_of_another_service_are_pushed_to_before_their_phones_connect(make_site):
    site = make_site(with_apns=True, settings=SETTINGS, app_settings=TAGS).start()
    pushes, tokens = Pushes(site), [Courier(site, f"phone{number}").token() for number in range(2)]
    guest, bad, bob = bring(site, line(tokens[0], tags=["shoes"]), line("8a3"), line(tokens[1], user="bob", tags=["shoes"]))
    assert guest["status"] == "registered" and guest["user"].startswith("anon-")
    assert (bad["status"], bad["code"], bad["field"]) == ("refused", "invalid_field", "installations[1].token")
    assert "hexadecimal" in bad["rule"]
    assert (bob["status"], bob["user"]) == ("registered", "bob")
    pushes.wait_for(pushes.send({"tag": "shoes"}), "done", accepted=2)
    assert len(accepted(site)) == 2

    # The same token is the same installation, written in capitals, too, and after a crash.
    site.server.kill()
    site.start()
    again = bring(site, line(tokens[0].upper(), tags=[]), line(tokens[1]))
    assert [it["status"] for it in again] == ["updated", "updated"]
    assert [it["user"] for it in again] == [guest["user"], "bob"]
    assert pushes.count({"tag": "shoes"}) == 1 and pushes.count(EVERYBODY) == 2


def test_a_token_goes_to_the_person_of_the_phone_that_connects_and_what_was_made_for_it_ends(make_site):
    site = make_site(with_apns=True, settings=SETTINGS).start()
    pushes, token = Pushes(site), Courier(site, "phone").token()
    (guest,) = bring(site, line(token))
    run(register(site, site.token("bob"), token))
    pushes.wait(lambda: not pushes.devices(guest["user"]), pushes.send(EVERYBODY))
    assert pushes.devices("bob") == ["phone"] and pushes.count(EVERYBODY) == 1
    # Brought again, it stays with who has it.
    assert bring(site, line(token)) == [{"user": "bob", "device": "phone", "status": "updated"}]
    # So does the repeat of a call that has named another person before.
    key = {"Idempotency-Key": '"once"'}
    assert bring(site, line(token, user="alice"), **key)[0]["user"] == "alice"
    run(register(site, site.token("bob"), token))
    assert bring(site, line(token, user="alice"), **key) == [{"user": "bob", "device": "phone", "status": "updated"}]


def test_a_thousand_tokens_come_in_one_call_and_no_more(make_site):
    site = make_site(app_settings=TAGS).start()
    lines = [line(f"{number:064x}") for number in range(1_001)]
    key = {"Idempotency-Key": '"import"'}
    first = bring(site, *lines[:-1], **key)
    assert len({it["user"] for it in first}) == 1_000 and {it["status"] for it in first} == {"registered"}
    assert [it["user"] for it in bring(site, *lines[:-1], **key)] == [it["user"] for it in first]
    assert refused(lambda: bring(site, *lines))[:2] == (400, "invalid_field")
    assert refused(lambda: bring(site))[:2] == (400, "invalid_field")
    (other,) = bring(site, line("ab" * 32, tags=["no such tag"]))
    assert (other["code"], other["field"]) == ("invalid_field", "installations[0].tags")
    site.call("PUT", f"/v1/apps/{site.app}/users/mallory/ban")
    (banned,) = bring(site, line("ab" * 32, user="mallory"))
    assert (banned["code"], banned["field"]) == ("disabled", "installations[0].user")


# Keys and shares.


def test_a_key_makes_people_of_its_own_app_until_it_is_revoked(stage):
    site = stage.site
    stage.operator.call("POST", "/v1/apps", {"id": "club"})
    other = stage.add_key("ios", "club")
    stranger, guest = stage.make(other), stage.make()
    assert (stranger["app"], guest["app"]) == ("club", site.app)
    assert refused(lambda: stage.renew(guest["user"], stranger["renewal"]))[:2] == (401, "unauthorized")
    assert refused(lambda: stage.renew(stranger["user"], guest["renewal"]))[:2] == (401, "unauthorized")
    stage.operator.call("DELETE", f"/v1/apps/{site.app}/client-keys/{stage.key}")
    assert refused(stage.make)[:2] == (401, "unauthorized")
    for key in ("pk_" + "0" * 32, guest["token"], guest["renewal"]):
        assert refused(lambda: stage.make(key))[:2] == (401, "unauthorized")
    for key in (site.api_key, stage.operator.key):
        assert refused(lambda: stage.make(key))[:2] == (403, "wrong_key")
    # Whoever has become somebody with it stays it, also on a new process of the server.
    site.server.kill()
    site.start()
    assert refused(stage.make)[:2] == (401, "unauthorized")
    token = stage.renew(guest["user"], guest["renewal"])["token"]
    run(register(site, token, ""))
    assert stage.make(other)["app"] == "club"


def test_an_address_makes_ten_people_at_once(make_site):
    stage = Installations(make_site(settings={"proxy": {"addresses": ["127.0.0.1"]}}).start())
    for _ in range(10):
        stage.make(address="192.0.2.1")
    status, code, headers = refused(lambda: stage.make(address="192.0.2.1"))
    assert (status, code) == (429, "rate_limited") and 1 <= int(headers["Retry-After"]) <= 60
    assert headers["RateLimit-Policy"] == '"address.installations";q=600;w=600'
    stage.make(address="192.0.2.2")


# What anonymous people are not.


def test_anonymous_people_write_to_nobody_and_nobody_finds_them(stage):
    site = stage.site
    guest = stage.make()

    async def story():
        anonymous = client(site, guest["token"])
        await anonymous.connect()
        bob = Client(site.gateway, site.token("bob"))
        await bob.connect()
        for attempt in (
            lambda: anonymous.send("bob", "hi"), lambda: bob.send(guest["user"], "hi"),
            lambda: anonymous.request("watch", users=["bob"]), lambda: bob.request("watch", users=[guest["user"]]),
            lambda: anonymous.request("setProfile", name="Guest"),
            lambda: anonymous.change("team", "create", name="Us", members=["bob"]),
        ):
            with pytest.raises(Refused):
                await attempt()
        await anonymous.request("setPersonSettings", language="de")
        await anonymous.close()
        await bob.close()

    run(story())
    assert refused(lambda: site.token(guest["user"]))[:2] == (400, "invalid_field")
    # A backend that signs with the app's own secret makes no anonymous person.
    forged = jwt.encode({"app": site.app, "sub": guest["user"], "exp": int(time.time()) + 60}, site.secret, algorithm="HS256")
    with pytest.raises(Refused) as refusal:
        run(register(site, forged, ""))
    assert refusal.value.code == "invalid_token"
    # Banned, they are nobody.
    site.call("PUT", f"/v1/apps/{site.app}/users/{guest['user']}/ban")
    assert refused(lambda: stage.renew(guest["user"], guest["renewal"]))[:2] == (403, "disabled")
