"""Three ways through the console in Firefox ESR: signing in, why a phone was silent, and a push that is cancelled."""

from __future__ import annotations

import os
import time

import pytest
from firefox import Firefox

pytestmark = pytest.mark.skipif(
    not os.access(os.environ.get("TIDINGS_FIREFOX", "/usr/bin/firefox-esr"), os.X_OK), reason="Firefox ESR is not installed")


@pytest.fixture(scope="module")
def firefox(stage):
    firefox = Firefox()
    firefox.open(stage.url)
    firefox.type("input[name=operator]", "anna")
    firefox.type("input[name=password]", "wrong")
    firefox.press("Sign in")
    firefox.wait_for_text("No operator has this name and password")
    firefox.type("input[name=password]", stage.passwords["anna"])
    firefox.press("Sign in")
    firefox.wait_for("document.querySelector('nav.side-nav')")
    yield firefox
    firefox.stop()


def test_what_happens_is_live(firefox, stage):
    firefox.evaluate("location.hash = '#/apps/demo/messages'")
    firefox.wait_for_text("The newest")
    firefox.wait_for("document.querySelector('.live')?.textContent === 'Live'")
    message = stage.backend.say("alice", "bob", "In Firefox")
    firefox.wait_for(f"[...document.querySelectorAll('main .message-line')].some(row => row.textContent.includes('{message}') && row.textContent.includes('accepted by APNs'))")
    assert firefox.errors == []


def test_a_sentence_says_why_a_phone_was_silent(firefox, stage):
    firefox.evaluate("location.hash = '#/apps/demo/people/carol'")
    firefox.press("Say why")
    firefox.wait_for_text("carol-iphone of carol stayed silent because carol has muted this conversation")
    firefox.evaluate(f"location.hash = '#/apps/demo/messages/{stage.messages['elsewhere']}'")
    firefox.wait_for_text("hank-iphone of hank was not pushed: the message was read on hank-ipad")
    assert firefox.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert firefox.errors == []


def test_a_push_is_scheduled_and_cancelled(firefox):
    firefox.evaluate("location.hash = '#/apps/demo/pushes/new'")
    firefox.type("input[name=title]", "Later")
    firefox.type("textarea[name=text]", "From Firefox")
    firefox.evaluate("[...document.querySelectorAll('.segments label')].find(each => each.textContent === 'at a time').click()")
    when = time.strftime("%Y-%m-%dT09:00", time.localtime(time.time() + 86_400 * 30))
    firefox.wait_for("document.querySelector('input[name=send_at]')")
    firefox.evaluate(f"(() => {{ const input = document.querySelector('input[name=send_at]'); input.value = '{when}'; input.dispatchEvent(new Event('input')); }})()")
    firefox.press("Review and send")
    firefox.press("Send", within="dialog")
    firefox.wait_for("/pushes\\/[0-9a-z]{13}$/.test(location.hash)")
    firefox.wait_for_text("scheduled")
    firefox.press("Cancel")
    firefox.press("Cancel", within="dialog .dialog-actions")
    firefox.wait_for("!document.querySelector('dialog')")
    # "Cancel" of the question leaves it as it is; the other button does what it says.
    firefox.press("Cancel")
    firefox.evaluate("document.querySelector('dialog button[type=submit]').click()")
    firefox.wait_for("document.querySelector('.page-head')?.textContent.includes('cancelled')")
    assert firefox.errors == []
