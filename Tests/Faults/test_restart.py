"""A restart under load must not ring a thousand phones (design.md §3 "After a start")."""

import asyncio
import contextlib
import hashlib
import resource

from tidings_client import Client

from conftest import TOPIC

PHONES = 1_000


def raise_file_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4_096 if hard == resource.RLIM_INFINITY else min(4_096, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def push_token(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def test_a_restart_under_load_with_a_thousand_phones_in_front_causes_no_push(make_site):
    """All but one phone return after the restart. Only that one may be pushed to, which shows that the check can fail."""
    raise_file_limit()
    site = make_site(with_apns=True, settings={"limits": {"mode": "none"}}).start()
    absent = f"u{PHONES - 1}"

    async def reconnect(client: Client, name: str):
        client.token = tokens[name]
        for _ in range(100):
            with contextlib.suppress(OSError, TimeoutError):
                await client.connect()
                await client.register_push(push_token(name), TOPIC)
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"{name} could not come back")

    async def talk(client: Client, peer: str):
        with contextlib.suppress(Exception):
            while True:
                await client.send(peer, "load")

    async def story():
        clients = {f"u{number}": Client(site.gateway, tokens[f"u{number}"]) for number in range(PHONES)}
        for names in batches(list(clients), 50):
            await asyncio.gather(*(reconnect(clients[name], name) for name in names))
        load = [asyncio.create_task(talk(clients[f"u{number}"], f"u{number ^ 1}")) for number in range(100)]
        await asyncio.sleep(1)
        site.server.kill()
        await asyncio.gather(*load)
        for client in clients.values():
            await client.close()
        site.start()
        for names in batches([name for name in clients if name != absent], 50):
            await asyncio.gather(*(reconnect(clients[name], name) for name in names))
        # Everybody hears something, the absent phone too.
        for number in range(0, PHONES, 2):
            await clients[f"u{number}"].send(f"u{number + 1}", "after the restart")
        await asyncio.sleep(25)
        for client in clients.values():
            await client.close()

    tokens = {f"u{number}": site.token(f"u{number}") for number in range(PHONES)}
    asyncio.run(asyncio.wait_for(story(), 300))
    pushed = {event["token"] for event in site.delivery_log() if event.get("token")}
    assert pushed == {push_token(absent)}


def batches(items: list, size: int):
    return [items[start : start + size] for start in range(0, len(items), size)]
