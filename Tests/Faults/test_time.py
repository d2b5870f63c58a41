"""Time goes wrong: the server is stopped for a while, and the machine's clock is moved (design.md §3 "Clocks")."""

import asyncio
import os
import random
import signal
from datetime import datetime, timedelta

from load import IS_LONG, SEED, SETTINGS, Load, Usage, run, tell
from moved_clock import MovedClock

FREEZES = 20 if IS_LONG else 2
STEPS = 30 if IS_LONG else 4


def test_a_server_that_stands_still_and_goes_on_loses_and_doubles_nothing(make_site):
    """SIGSTOP for longer than the people wait for an answer: they hang up, come back, and repeat."""
    site = make_site(settings=SETTINGS).start()

    async def story():
        load = await Load(site).start()
        await load.more(100)
        await load.stop()
        usage = Usage(site)
        load.answer_seconds = 1
        await load.start()
        for _ in range(FREEZES):
            await load.more(50)
            os.kill(site.server.pid, signal.SIGSTOP)
            await asyncio.sleep(2.5)
            os.kill(site.server.pid, signal.SIGCONT)
            load.answer_seconds = 20
            await load.more(50)
            load.answer_seconds = 1
        load.answer_seconds = 20
        await load.stop()
        assert load.reconnects > 0, "nobody noticed the freeze"
        figures = await load.verify()
        return {"freezes": FREEZES, **figures, **await asyncio.to_thread(usage.verify)}

    tell("standstill", run(story()))


def test_a_clock_that_jumps_ahead_and_back_loses_doubles_and_reorders_nothing(make_site, tmp_path):
    clock = MovedClock(tmp_path / "clock", datetime.now())
    site = make_site(settings=SETTINGS, clock=clock).start()
    chance = random.Random(SEED)

    async def story():
        load = await Load(site).start()
        for number in range(STEPS):
            await load.more(30)
            seconds = chance.choice([-7_200, -600, -1, 1, 600, 7_200]) if number else -3_600
            clock.set(datetime.now() + timedelta(seconds=seconds))
        await load.more(30)
        clock.set(datetime.now())
        await load.more(30)
        await load.stop()
        times = [int(sent["sentAt"]) / 1_000 for client in load.clients.values() for sent in client.accepted.values()]
        assert max(times) - min(times) > 3_000, "the server did not go by the clock that was moved"
        return {"steps": STEPS, **await load.verify()}

    tell("clock", run(story()))
