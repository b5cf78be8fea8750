"""`serve`: the endpoint on a port until it is told to stop."""

import asyncio
import signal
from collections.abc import Callable

from rotajax.solvers.http import web


def serve(app: web.Application, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `ready` is given the base address. Raises OSError where the port is taken."""
    asyncio.run(_serve(app, host, port, ready))


async def _serve(app: web.Application, host: str, port: int, ready: Callable[[str], None]) -> None:
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        taken = runner.addresses[0][1]
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        ready(f"http://{f'[{host}]' if ':' in host else host}:{taken}/v1")
        await ended.wait()
    finally:
        await runner.cleanup()
