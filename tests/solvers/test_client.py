"""The client against servers that behave in every way they have been seen to."""

import asyncio
import dataclasses
import json
import pickle
import time
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from endpoints import ASK, QUICK, Script, ask, bad, ok, serving
from rotajax.solvers.address import completions_url
from rotajax.solvers.backoff import LONGEST, retry_after
from rotajax.solvers.client import WAITS, ChatClient, EndpointError
from rotajax.solvers.reply import InfrastructureError, Stopped
from rotajax.solvers.secret import Secret, key_from_environment
from rotajax.solvers.settings import Settings

KEY = "sk-" + "Zq7" * 12


def test_a_request_has_the_settings_of_table_19():
    script, _, answer = ask(ok('{"cot":"x"}'))
    assert script.bodies == [
        {
            "model": "m",
            "stream": False,
            "temperature": 0.0,
            "seed": 42,
            "reasoning_effort": "medium",
            "max_tokens": 8192,
            "response_format": {"type": "json_object"},
            "messages": ASK,
        }
    ]
    assert answer.text == '{"cot":"x"}'
    assert (answer.finish_reason, answer.raw_id, answer.model, answer.attempts) == ("stop", "c1", "m-1", 1)
    assert answer.failures == ()
    settings = Settings()
    assert (settings.timeout, settings.retries, settings.backoff) == (1500, 2, 1.6)


def test_encoded_messages_are_sent_as_they_are():
    class Encoded:
        def json_parts(self):
            return [b'[{"role":"user",', b'"content":"\xc3\xa9 ', b"x" * 3_000_000, *[b"y"] * 1000, b'"}]']

    async def run():
        script = Script(ok())
        async with serving(script.app()) as base, ChatClient(base, "m", None, QUICK) as client:
            await client.complete(Encoded())
        return script

    script = asyncio.run(run())
    assert script.bodies[0]["messages"] == [{"role": "user", "content": "é " + "x" * 3_000_000 + "y" * 1000}]
    assert "Transfer-Encoding" not in script.headers[0]
    assert int(script.headers[0]["Content-Length"]) > 3_000_000


def test_tools_are_sent_and_their_calls_read():
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}
    loose = {"function": {"name": "run", "arguments": {"code": "1"}}}  # as some servers write it
    tools = [{"type": "function", "function": {"name": "look"}}]
    script, _, answer = ask(ok(None, tool_calls=[call, loose], choice={"finish_reason": "tool_calls"}), tools=tools)
    assert script.bodies[0]["tools"] == tools
    assert "response_format" not in script.bodies[0]
    assert [(c.id, c.name, json.loads(c.arguments)) for c in answer.tool_calls] == [
        ("a", "look", {"n": 1}),
        ("call_1", "run", {"code": "1"}),
    ]
    assert answer.message()["tool_calls"][0] == call
    assert answer.message()["content"] is None


PARTS = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]


@pytest.mark.parametrize(
    ("response", "text", "reasoning", "refusal", "reason"),
    [
        (ok(None), "", None, None, "stop"),
        (ok(PARTS), "ab", "hm", None, "stop"),
        (ok([{"type": "refusal", "refusal": "never"}]), "", None, "never", "stop"),
        (ok(None, refusal="no"), "", None, "no", "stop"),
        (ok("a", reasoning_content="long"), "a", "long", None, "stop"),
        (ok("a", reasoning="long"), "a", "long", None, "stop"),
        (ok("half", choice={"finish_reason": "length"}), "half", None, None, "length"),
        (ok("a", headers={"Content-Type": "text/plain; charset=utf-8"}), "a", None, None, "stop"),
        (bad(400, "flagged", code="content_filter"), "", None, "400 content_filter: flagged", "content_filter"),
    ],
)
def test_whatever_the_model_says_is_its_answer_at_once(response, text, reasoning, refusal, reason):
    script, _, answer = ask(response)
    assert (answer.text, answer.reasoning, answer.refusal, answer.finish_reason) == (text, reasoning, refusal, reason)
    assert len(script.bodies) == answer.attempts == 1


def closes(request):
    async def run():
        request.transport.abort()
        return web.Response()

    return run()


def cuts(request):
    async def run():
        response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        request.transport.close()
        return response

    return run()


TROUBLES = [
    (bad(429), "rate_limit"),
    (bad(500), "server_error"),
    (bad(503), "server_error"),
    (bad(529), "server_error"),
    (bad(408), "server_error"),
    (closes, "connection"),
    (cuts, "cut_body"),
    ((200, b'{"choices": [', {}), "not_json"),
    ((200, b"<html>Sign in</html>", {"Content-Type": "text/html"}), "not_json"),
    ((200, b"data: {}\n\n", {"Content-Type": "text/event-stream"}), "not_json"),
    ((200, b"[1]", {}), "not_json"),
    ((200, b"[" * 100_000, {}), "not_json"),
    ((200, {"choices": []}, {}), "no_choices"),
    ((200, {"choices": [{"finish_reason": "stop"}]}, {}), "no_choices"),
    ((200, {"error": {"message": "overloaded", "code": 529}}, {}), "server_error"),
    (ok(choice={"finish_reason": "error"}), "upstream_error"),
    (ok(17), "bad_content"),
]


@pytest.mark.parametrize(("response", "kind"), TROUBLES)
def test_trouble_is_asked_again_twice_and_then_is_not_the_models(response, kind):
    script, _, error = ask(response)
    assert isinstance(error, InfrastructureError)
    assert error.kind == kind
    assert len(script.bodies) == 3
    assert "\n" not in str(error)
    script, _, answer = ask(response, response, ok())
    assert (answer.text, answer.attempts, answer.failures) == ("yes", 3, (kind, kind))


def test_a_timeout_is_trouble():
    async def slow(request):
        await asyncio.sleep(0.5)
        return web.json_response(ok()[1])

    script, _, error = ask(slow, settings=dataclasses.replace(QUICK, timeout=0.1, retries=1))
    assert (error.kind, len(script.bodies)) == ("timeout", 2)


def test_a_server_that_is_not_there():
    async def run():
        async with ChatClient("http://127.0.0.1:9/v1", "m", None, QUICK) as client:
            await client.complete(ASK)

    with pytest.raises(InfrastructureError, match=r"cannot reach http://127\.0\.0\.1:9/v1") as caught:
        asyncio.run(run())
    assert caught.value.kind == "unreachable"


def test_retry_after_is_waited_for_and_costs_no_retry():
    waits = [bad(429, headers={"Retry-After": "0.15"})] * 4
    began = time.monotonic()
    script, _, answer = ask(*waits, ok())
    assert 0.6 < time.monotonic() - began < 5
    assert answer.failures == ("rate_limit",) * 4
    assert answer.waited > 0.6
    script, _, error = ask(bad(429, headers={"retry-after-ms": "1"}))
    assert error.kind == "rate_limit"
    assert len(script.bodies) == WAITS + 3


def test_a_rate_limit_holds_for_everybody():
    async def run():
        script = Script(bad(429, headers={"Retry-After": "0.4"}), ok())
        async with serving(script.app()) as base, ChatClient(base, "m", None, QUICK) as client:
            first = asyncio.create_task(client.complete(ASK))
            while len(script.bodies) < 1:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            began = time.monotonic()
            await client.complete(ASK)
            waited = time.monotonic() - began
            await first
            return waited

    assert asyncio.run(run()) > 0.2


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "86400"}, LONGEST),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "7", "retry-after-ms": "250"}, 0.25),
        ({"Retry-After": format_datetime(datetime(2026, 1, 1, 0, 0, 9, tzinfo=UTC), usegmt=True)}, 9.0),
        ({"Retry-After": "Thu, 01 Jan 2026 00:00:09 -0000"}, 9.0),
        ({"Retry-After": "Mon, 01 Jan 2024 00:00:00 GMT"}, 0.0),
        ({"Retry-After": format_datetime(datetime(2027, 1, 1, tzinfo=UTC) + timedelta(0), usegmt=True)}, LONGEST),
    ],
)
def test_retry_after_as_seconds_and_as_a_date(headers, seconds):
    assert retry_after(headers, datetime(2026, 1, 1, tzinfo=UTC)) == seconds


def unsupported(name, **more):
    return bad(400, f"Unsupported parameter: '{name}' is not supported with this model.", param=name, **more)


def test_the_limit_is_renamed_once_and_remembered():
    refusal = bad(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", param="max_tokens")
    script, client, answers = ask(refusal, ok(), times=2)
    assert ["max_tokens" in body for body in script.bodies] == [True, False, False]
    assert [body.get("max_completion_tokens") for body in script.bodies] == [None, 8192, 8192]
    assert answers[0].failures == ("parameter",)
    assert answers[1].attempts == 1
    assert client.dialect.describe() == {"limit": "max_completion_tokens", "dropped": []}


@pytest.mark.parametrize(
    "refusal",
    [
        unsupported("temperature", code="unsupported_value"),
        bad(400, "Unsupported value: 'temperature' does not support 0 with this model. Only the default is supported."),
        bad(400, "Unrecognized request argument supplied: temperature"),
        (422, {"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]}, {}),
        (400, [{"error": {"message": 'Invalid JSON: Unknown name "temperature"', "status": "INVALID_ARGUMENT"}}], {}),
    ],
)
def test_a_parameter_that_is_refused_is_left_out(refusal):
    script, client, answer = ask(refusal, ok())
    assert answer.text == "yes"
    assert "temperature" not in script.bodies[1]
    assert script.bodies[1]["seed"] == 42
    assert client.dialect.describe()["dropped"] == ["temperature"]


def test_all_of_them_can_be_refused_one_after_the_other():
    names = ["temperature", "seed", "reasoning_effort", "response_format", "max_tokens"]
    script, _, answer = ask(*map(unsupported, names), ok())
    assert answer.attempts == 6
    assert set(script.bodies[-1]) == {"model", "stream", "messages", "max_completion_tokens"}


def test_no_answer_is_asked_for_without_a_limit():
    script, _, error = ask(unsupported("max_tokens"), unsupported("max_completion_tokens"))
    assert (error.kind, len(script.bodies)) == ("bad_request", 2)


def test_a_value_out_of_range_is_no_reason_to_leave_it_out():
    script, _, error = ask(bad(400, "max_tokens is too large: 8192. This model gives at most 4096", param="max_tokens"))
    assert (error.kind, len(script.bodies)) == ("bad_request", 1)
    assert "at most 4096" in str(error)


def test_requests_in_flight_learn_together():
    async def picky(request):
        body = json.loads(await request.read())
        for name in ("seed", "temperature"):
            if name in body:
                return web.json_response(unsupported(name)[1], status=400)
        return web.json_response(ok()[1])

    async def run():
        app = web.Application()
        app.router.add_post("/v1/chat/completions", picky)
        async with serving(app) as base, ChatClient(base, "m", None, QUICK) as client:
            answers = await asyncio.gather(*(client.complete(ASK) for _ in range(20)))
            return client, answers

    client, answers = asyncio.run(run())
    assert client.dialect.dropped == {"seed", "temperature"}
    assert all(answer.text == "yes" for answer in answers)
    assert max(answer.attempts for answer in answers) <= 3


@pytest.mark.parametrize(
    "response",
    [
        bad(429, "You exceeded your current quota", code="insufficient_quota", type="insufficient_quota"),
        bad(402, "Payment required"),
        bad(403, "billing_hard_limit_reached", code="billing_hard_limit_reached"),
        bad(400, "Your credit balance is too low to access the API"),
        (200, {"error": {"message": "Insufficient credits", "code": 402}}, {}),
    ],
)
def test_an_exhausted_quota_stops_the_run(response):
    script, _, error = ask(response)
    assert isinstance(error, Stopped)
    assert str(error).startswith("the quota is exhausted: m: ")
    assert len(script.bodies) == 1


def test_a_quota_for_the_next_minute_is_a_rate_limit():
    _, _, answer = ask(bad(429, "quota", code="quota_exceeded", headers={"Retry-After": "0.01"}), ok())
    assert answer.failures == ("rate_limit",)


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (bad(401, "Incorrect API key provided", code="invalid_api_key"), "key"),
        (bad(403, "not allowed"), "key"),
        (bad(404, "The model `m` does not exist", code="model_not_found"), "model"),
        (bad(400, "invalid model ID"), "model"),
        ((404, b"<html>Not found</html>", {"Content-Type": "text/html"}), "address"),
        ((404, {"detail": "Not Found"}, {}), "address"),
        ((405, b"", {}), "address"),
    ],
)
def test_a_wrong_key_model_or_address_is_one_line_and_no_retry(response, kind):
    script, client, error = ask(response)
    assert isinstance(error, EndpointError)
    assert isinstance(error, ValueError)
    assert error.kind == kind
    assert "expected" in str(error)
    assert client.url in str(error)
    assert "\n" not in str(error)
    assert len(script.bodies) == 1


def test_a_key_that_stops_working_stops_the_run_resumably():
    _, _, (answer, error) = ask(ok(), bad(401, "expired"), times=2)
    assert answer.text == "yes"
    assert isinstance(error, Stopped)


def test_a_redirect_is_not_followed():
    script, _, error = ask((307, b"", {"Location": "http://127.0.0.1:9/v1/chat/completions"}))
    assert (error.kind, len(script.bodies)) == ("bad_request", 1)


def test_so_many_are_in_flight_and_no_more():
    now, most = 0, 0

    async def count(request):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return web.json_response(ok()[1])

    async def run():
        app = web.Application()
        app.router.add_post("/v1/chat/completions", count)
        settings = dataclasses.replace(QUICK, concurrency=4)
        async with serving(app) as base, ChatClient(base, "m", None, settings) as client:
            await asyncio.gather(*(client.complete(ASK) for _ in range(20)))

    asyncio.run(run())
    assert most == 4


def echo(status):
    return lambda request: (status, {"error": {"message": f"bad key {request.headers['Authorization']}"}}, {})


@pytest.mark.parametrize("response", [echo(401), echo(500), echo(400), echo(402), echo(404), closes])
def test_the_key_is_in_one_header_and_nowhere_else(response, caplog, capfd):
    script, client, error = ask(response, key=Secret(KEY), settings=dataclasses.replace(QUICK, retries=0))
    assert script.headers[0]["Authorization"] == f"Bearer {KEY}"
    shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    everything = [shown, repr(error), repr(error.__cause__), repr(client), repr(vars(client)), str(error)]
    everything += [caplog.text, *capfd.readouterr(), json.dumps(script.bodies)]
    assert [text for text in everything if KEY in text] == []
    _, _, answer = ask(lambda request: ok(request.headers["Authorization"]), key=Secret(KEY))
    assert answer.text == "Bearer ***"


def test_a_key_is_not_shown_not_pickled_and_not_guessed(monkeypatch):
    key = Secret(KEY)
    assert KEY not in f"{key} {key!r} {[key]}"
    with pytest.raises(TypeError, match="not written anywhere"):
        pickle.dumps(key)
    with pytest.raises(ValueError, match="printable ASCII") as caught:
        Secret("sk-1\nInjected: header")
    assert "sk-1" not in str(caught.value)
    monkeypatch.delenv("ROTAJAX_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    assert key_from_environment() is None
    script, _, _ = ask(ok())
    assert "Authorization" not in script.headers[0]
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert key_from_environment().header() == {"Authorization": f"Bearer {KEY}"}
    monkeypatch.setenv("ROTAJAX_API_KEY", "first")
    assert key_from_environment().header() == {"Authorization": "Bearer first"}


def test_addresses():
    for given in ("http://h:1/v1", "http://h:1/v1/", " http://h:1/v1/chat/completions "):
        assert completions_url(given) == "http://h:1/v1/chat/completions"
    for wrong in ("", "h:1/v1", "ftp://h/v1", "http://", "http://h:x/v1", "http://h/v1?key=1", "http://[::1/v1"):
        with pytest.raises(ValueError, match=r"^base-url: expected"):
            completions_url(wrong)
    with pytest.raises(ValueError, match="no password") as caught:
        completions_url("https://me:hush@h/v1")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [{"retries": -1}, {"concurrency": 0}, {"timeout": 0}, {"max_tokens": 0}, {"effort": "much"}, {"backoff": -1}],
)
def test_settings_out_of_range(wrong):
    with pytest.raises(ValueError, match=r"^client: "):
        Settings(**wrong)
