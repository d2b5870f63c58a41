"""The server is killed in the middle of its work. Whatever was acknowledged must be there afterwards, once (design.md P1, P6)."""

import asyncio
import contextlib
import json
import random
import secrets

from load import IS_LONG, SEED, SETTINGS, Load, run, tell
from tidings_client import Client

PAIRS = 20
ROUNDS = 60 if IS_LONG else 4


def test_nothing_acknowledged_is_lost_or_doubled_when_the_server_is_killed_under_load(site):
    """SIGKILL after a second of load; every unanswered send is repeated with its id after the restart, as docs/server/protocol.md asks."""
    sent: dict[str, tuple[str, str]] = {}
    acknowledged: dict[str, str] = {}

    async def sender(client: Client, name: str, peer: str):
        with contextlib.suppress(Exception):
            while True:
                ident = secrets.token_hex(8)
                sent[ident] = (name, peer)
                answer = await client.send(peer, ident, client_message_id=ident)
                acknowledged[ident] = answer["messageId"]

    async def story():
        clients = {}
        for number in range(PAIRS * 2):
            clients[f"u{number}"] = Client(site.gateway, site.token(f"u{number}"))
            await clients[f"u{number}"].connect()
        tasks = [
            asyncio.create_task(sender(client, name, f"u{int(name[1:]) ^ 1}"))
            for name, client in clients.items()
            for _ in range(4)
        ]
        await asyncio.sleep(1.5)
        site.server.kill()
        await asyncio.wait_for(asyncio.gather(*tasks), 30)
        before = len(acknowledged)
        assert before > 100, "too little load to say anything"
        for client in clients.values():
            await client.close()
        site.start()

        # Repeat what was not answered, with the same ids.
        open_sends = {ident: pair for ident, pair in sent.items() if ident not in acknowledged}
        assert open_sends, "the kill did not fall into a send"
        for name, client in clients.items():
            client.token = site.token(name)
            await client.connect()
        for ident, (name, peer) in open_sends.items():
            answer = await clients[name].send(peer, ident, client_message_id=ident)
            acknowledged[ident] = answer["messageId"]

        # A new device of every person reads the whole log from the disk.
        logs: dict[str, list[dict]] = {}
        for name in clients:
            reader = Client(site.gateway, site.token(name))
            await reader.connect()
            logs[name] = reader.messages
            await reader.close()
        for client in clients.values():
            await client.close()
        return before, logs

    before, logs = run(story())
    for name, log in logs.items():
        idents = [json.loads(message["content"])["content"] for message in log]
        assert len(idents) == len(set(idents)), f"{name} has a message twice"
        expected = {ident for ident, pair in sent.items() if name in pair}
        assert set(idents) == expected, f"{name}: {len(expected - set(idents))} missing"
        for message in log:
            assert acknowledged[json.loads(message["content"])["content"]] == message["id"]
    print(f"{before} acknowledged before the kill, {len(sent) - before} repeated after it, all present once")


def test_one_kill_after_the_other_at_any_moment_loses_and_doubles_nothing(make_site):
    """The people never stop: what recovery itself was doing, and the first moments after it, are hit as well."""
    site = make_site(settings=SETTINGS).start()
    chance = random.Random(SEED)

    async def story():
        load = await Load(site).start()
        for _ in range(ROUNDS):
            await load.more(chance.randrange(1, 60))
            await asyncio.sleep(chance.uniform(0, 0.05))
            site.server.kill()
            await asyncio.to_thread(site.start)
        await load.stop()
        assert load.reconnects > 0
        return await load.verify()

    tell("kill", {"kills": ROUNDS, **run(story())})
