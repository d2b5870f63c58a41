"""What tests of several people share: a time limit, clients that are connected, and calls of the backend beside them."""

import asyncio
import contextlib

from tidings_client import Client


def run(coroutine):
    """Runs a story; one that hangs is ended after five minutes."""
    return asyncio.run(asyncio.wait_for(coroutine, 300))


@contextlib.asynccontextmanager
async def people(site, *names: str):
    """Connected clients, one for each name."""
    clients = [Client(site.gateway, site.token(name)) for name in names]
    try:
        for client in clients:
            await client.connect()
        yield clients
    finally:
        for client in clients:
            await client.close()


def api(site, method: str, path: str, body: dict | None = None):
    """Calls the API as the app's backend."""
    return asyncio.to_thread(site.call, method, f"/v1/apps/{site.app}/{path}", body)
