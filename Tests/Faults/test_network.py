"""The network between phones and server fails, and everybody comes back at once."""

import asyncio
import random

import pytest
from crowd import Crowd, raise_file_limit
from load import IS_LONG, SEED, SETTINGS, Load, Usage, run, tell
from proxy import Proxy

ROUNDS = 40 if IS_LONG else 4
# Connections of this process, and of the server on its side.
CROWD = 10_000 if IS_LONG else 1_000
HEARTBEAT = {**SETTINGS, "session": {"heartbeat_milliseconds": 1_000}}


def test_connections_that_are_reset_or_half_open_lose_and_double_nothing(make_site):
    site = make_site(settings=HEARTBEAT).start()
    chance = random.Random(SEED)

    async def story():
        proxy = Proxy(site.gateway_port)
        load = Load(site, gateway=await proxy.start(), answer_seconds=2)
        await load.start()
        await load.more(100)
        await load.stop()
        while proxy.open:
            await asyncio.sleep(0.05)
        usage = Usage(site)
        await load.start()
        for number in range(ROUNDS):
            await load.more(30)
            if number % 2:
                proxy.reset(0.7, chance)
            else:
                proxy.silence(0.7, chance)
                while load.reconnects < proxy.silenced:
                    await asyncio.sleep(0.05)
        await load.stop()
        assert proxy.reset_count > 0 and proxy.silenced > 0
        figures = await load.verify()
        # The server's own heartbeat finds out about those who never say goodbye.
        held = await asyncio.to_thread(usage.verify)
        await proxy.stop()
        return {"resets": proxy.reset_count, "half open": proxy.silenced, **figures, **held}

    tell("network", run(story()))


@pytest.mark.alone
def test_a_crowd_that_comes_back_at_once_is_let_in_and_answered_once(make_site):
    """Everybody has a send under way when the server dies, and repeats it in the moment it is back."""
    raise_file_limit(CROWD + 500)
    site = make_site(settings=SETTINGS).start()

    async def story():
        crowd = Crowd(site, CROWD)
        await crowd.connect()
        await crowd.send_without_waiting()
        site.server.kill()
        await crowd.lose()
        await asyncio.to_thread(site.start)
        usage = Usage(site)
        await crowd.connect()
        await crowd.send_and_wait()
        await crowd.leave()
        figures = await crowd.verify(sample=40)
        # Each of them is a person, a device and a session the server knows by now.
        return {**figures, **await asyncio.to_thread(usage.verify, (96 << 20) + CROWD * 40_000)}

    tell("crowd", run(story()))
