"""Real servers on free local ports, for the tests of what speaks HTTP."""

import asyncio
import json
from contextlib import asynccontextmanager

from aiohttp import web

from rotajax.solvers.client import ChatClient
from rotajax.solvers.settings import Settings

QUICK = Settings(backoff=0.001, timeout=5.0)
ASK = [{"role": "user", "content": "Which way, as JSON?"}]


@asynccontextmanager
async def serving(app):
    """The base address of an application that is served while the block runs."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


class Script:
    """An endpoint that gives listed responses in turn, the last one for ever, and keeps what it was sent."""

    def __init__(self, *responses):
        self.responses = list(responses)
        self.bodies, self.headers = [], []

    def app(self):
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self.answer)
        return app

    async def answer(self, request):
        self.bodies.append(json.loads(await request.read()))
        self.headers.append(dict(request.headers))
        response = self.responses[min(len(self.bodies), len(self.responses)) - 1]
        made = response(request) if callable(response) else response
        if asyncio.iscoroutine(made):
            return await made
        status, body, headers = made
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return web.Response(status=status, body=data, headers={"Content-Type": "application/json", **headers})


def ok(content="yes", *, usage=None, choice=None, headers=None, **message):
    """A completion as (status, body, headers)."""
    said = {"role": "assistant", "content": content, **message}
    body = {"id": "c1", "model": "m-1", "choices": [{"message": said, "finish_reason": "stop", **(choice or {})}]}
    return 200, {**body, **({} if usage is None else {"usage": usage})}, headers or {}


def bad(status, message="no", headers=None, **error):
    """An error in the protocol's form, as (status, body, headers)."""
    return status, {"error": {"message": message, **error}}, headers or {}


def ask(*responses, settings=QUICK, key=None, times=1, **options):
    """Ask a scripted endpoint; return the script, the client and the completions or the exception that came."""
    script = Script(*responses)

    async def run():
        async with serving(script.app()) as base, ChatClient(base, "m", key, settings) as client:
            results = []
            for _ in range(times):
                try:
                    results.append(await client.complete(ASK, **options))
                except Exception as error:
                    results.append(error)
            return script, client, results[0] if times == 1 else results

    return asyncio.run(run())
