"""The first call, against the local endpoint with the manners of real ones."""

import asyncio
import dataclasses

import pytest

from endpoints import QUICK, Script, bad, ok, serving
from rotajax.solvers.client import ChatClient, EndpointError
from rotajax.solvers.fake.faults import Faults
from rotajax.solvers.fake.players import make_player
from rotajax.solvers.fake.server import Manners, make_app
from rotajax.solvers.preflight import preflight
from rotajax.solvers.reply import InfrastructureError, Stopped
from rotajax.solvers.secret import Secret

KEY = "sk-right-enough"


def first_call(app, *, base=None, model="fake", key=KEY, pictures=48):
    async def run():
        async with serving(app) as found, ChatClient(base or found, model, key and Secret(key), QUICK) as client:
            return await preflight(client.complete, pictures=pictures), client

    return asyncio.run(run())


def app(*, faults=None, **manners):
    return make_app(make_player("stop"), manners=Manners(key=KEY, **manners), faults=faults)


def test_a_good_endpoint_sees_the_picture():
    found, client = first_call(app(refused=("max_tokens", "temperature")))
    assert found.sees
    assert found.warning is None
    assert found.model == "fake"
    assert found.completion.usage.prompt > 0
    # What it learnt holds for the run.
    assert client.dialect.describe() == {"limit": "max_completion_tokens", "dropped": ["temperature"]}


@pytest.mark.parametrize(
    ("manners", "call", "kind", "line"),
    [
        (
            {},
            {"key": "sk-wrong-enough"},
            "key",
            r"key \(from ROTAJAX_API_KEY or OPENAI_API_KEY\): expected .* got fake: 401",
        ),
        ({}, {"key": None}, "key", "key .*: expected one"),
        ({}, {"model": "other"}, "model", "model: expected one that .* serves, got other: 404 model_not_found"),
        ({"sees": False}, {}, "no_images", "model: expected one that takes pictures, got fake: 400"),
        ({"max_images": 47}, {}, "too_many_images", "takes 48 pictures in a request.*At most 47 image"),
        ({}, {"base": "http://127.0.0.1:9/v1"}, "unreachable", "base-url: expected a server that answers, got .*reach"),
        ({}, {"base": "http://no-such-host.invalid/v1"}, "unreachable", "base-url: expected a server"),
    ],
)
def test_what_is_wrong_is_told_apart(manners, call, kind, line):
    with pytest.raises(EndpointError, match=f"^.*{line}") as caught:
        first_call(app(**manners), **call)
    assert caught.value.kind == kind
    assert "\n" not in str(caught.value)
    assert "enough" not in str(caught.value)


def test_a_path_that_is_not_there():
    async def run():
        async with serving(app()) as base, ChatClient(base.removesuffix("/v1"), "fake", Secret(KEY), QUICK) as client:
            await preflight(client.complete)

    with pytest.raises(EndpointError, match="base-url: expected an endpoint, often ending in /v1") as caught:
        asyncio.run(run())
    assert caught.value.kind == "address"


def test_without_history_one_picture_is_enough():
    found, _ = first_call(app(max_images=1), pictures=1)
    assert found.sees


def test_a_model_that_ignores_pictures_is_warned_of():
    found, _ = first_call(Script(ok('{"colour": "transparent"}')).app())
    assert not found.sees
    assert "does it see pictures?" in found.warning


def test_an_exhausted_quota_and_a_server_that_fails_are_what_they_are():
    with pytest.raises(Stopped, match="quota"):
        first_call(app(faults=Faults(("quota",), 1.0)))
    with pytest.raises(InfrastructureError) as caught:
        first_call(app(faults=Faults(("429",), 1.0)))
    assert caught.value.kind == "rate_limit"
    with pytest.raises(InfrastructureError) as caught:
        first_call(app(faults=Faults(("500",), 1.0)))
    assert caught.value.kind == "server_error"


def test_a_request_that_is_refused_for_another_reason():
    with pytest.raises(EndpointError, match=r"^request: expected an answer, got fake: 400: service tier") as caught:
        first_call(Script(bad(400, "service tier")).app())
    assert caught.value.kind == "refused"


def test_a_refusal_is_shown():
    found, _ = first_call(Script(ok(None, refusal="not me")).app())
    assert "'not me'" in dataclasses.replace(found, sees=False).warning
