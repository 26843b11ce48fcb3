"""A loopback OpenAI-compatible server whose every misbehaviour is a knob.

Use it in a test, in a thread of this process (works in sync and async tests)::

    with Loopback(latency_s=0.05, faults=("429", "ok")) as server:
        ModelEndpoint(name="app", url=server.url, model="target")
        server.stats["requests"]

or as a process of its own, for tests that kill things::

    with LoopbackProcess("--latency", "0.05") as server:
        server.url; server.stats(); server.calls()

or from a shell: `python -m tests.fakes.loopback`, which prints its port first.

Served: `POST /v1/chat/completions`, `POST /v1/messages` (Anthropic's form),
`POST /v1/responses` (OpenAI's Responses), `POST /v1/models/NAME:generateContent` and `:rawPredict` (Google's),
`POST /v1/model/NAME/converse` (Amazon's), `GET /v1/models`, `POST /app` (an
application: `{"q": ..., "sid": ...}`, or a form of these, -> `{"text": ..., "data": [{"reply": ...}]}`),
`GET /stats`, `GET /calls`, `POST /knobs` (JSON; also zeroes the counters).
The model name's suffix (`user-sim`, `target`, `judge`) is the role by which calls are counted and answered; the
knock before a run has the role `knock` and is never a duplicate.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl

from aiohttp import web

from tests.fakes.misbehaviour import (
    BROKEN,
    COMPLAINING,
    CUT,
    ODD,
    ROLES,
    Events,
    Knobs,
    chat_answer,
    chat_events,
    error_answer,
    messages_answer,
    messages_events,
    respond,
    send,
)
from tests.fakes.provider_answers import (
    converse_answer,
    converse_chat,
    gemini_answer,
    gemini_chat,
    gemini_events,
    response_answer,
    response_events,
    responses_chat,
)

ROOT = Path(__file__).parents[2]

KNOCK_WORDS = "Reply with the word ok."

DEFAULT_REPLIES: dict[str, list[str]] = {
    "user-sim": ["Could you tell me more about item {tag}?", "How would {tag} work for my order?"],
    "target": ["For reference {tag}: the order ships in two days and returns are free for thirty days."],
    "judge": ['{{"reason": "The reply answers the question ({tag}).", "score": {score}}}'],
    "other": ["ok"],
    "knock": ["ok"],
}


@dataclass
class Call:
    """One chat call as the server saw it."""

    number: int
    role: str
    digest: str
    fault: str
    answered: bool = False
    moment_s: float = 0.0
    text: str = ""
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class Loopback:
    """The server in a thread of this process."""

    def __init__(self, *, tls: ssl.SSLContext | None = None, **knobs: Any) -> None:
        self.knobs, self._tls = Knobs(**knobs), tls
        self.calls: list[Call] = []
        self.n_models = self.in_flight = self.max_in_flight = self.port = 0
        self.n_connections: Callable[[], int] = int
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve(0)), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60), "the loopback server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop and self._stop:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def root(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Base address for a `ModelEndpoint`."""
        return f"{self.root}/v1"

    @property
    def stats(self) -> dict[str, Any]:
        """Counters: all calls, by role, answered by role, by fault, repeated bodies, connections."""
        bodies = Counter(call.digest for call in self.calls if call.role != "knock")
        return {
            "requests": len(self.calls),
            "answered": sum(call.answered for call in self.calls),
            "by_role": dict(Counter(call.role for call in self.calls)),
            "answered_by_role": dict(Counter(call.role for call in self.calls if call.answered)),
            "by_fault": dict(Counter(call.fault for call in self.calls)),
            "unique": len(bodies),
            "duplicates": bodies.total() - len(bodies),
            "models": self.n_models,
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
            "connections": self.n_connections(),
        }

    def wait_for_silence(self) -> None:
        """Wait until no client is connected: what a killed one has sent is counted by then."""
        while self.n_connections():
            time.sleep(0.02)

    async def serve(self, port: int, *, announce: bool = False) -> None:
        """Serve until the context ends (or, in a process, until it is killed)."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/messages", self._messages)
        app.router.add_post("/v1/responses", self._responses)
        app.router.add_post("/v1/models/{call}", self._generated)
        app.router.add_post("/v1/model/{model}/converse", self._converse)
        app.router.add_get("/v1/models", self._models)
        app.router.add_route("*", "/app", self._app)
        app.router.add_get("/stats", self._stats)
        app.router.add_get("/calls", self._calls)
        app.router.add_post("/knobs", self._knobs)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port, ssl_context=self._tls)
        await site.start()
        self.n_connections = lambda: len(runner.server.connections) if runner.server else 0
        self.port = runner.addresses[0][1]
        if announce:
            sys.stdout.write(f"{self.port}\n")
            sys.stdout.flush()
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        call, body = await self._said(request)
        answer = chat_answer(call.text, self.knobs.answers_as or str(body.get("model")), self.knobs.finish)
        if not self.knobs.tells_tokens:
            answer["usage"] = {}
        return await self._answer(request, call, answer, self._events(answer, body))

    def _events(self, answer: Any, body: Any) -> Events:
        if not self._streams(body):
            return ()
        return chat_events(answer, tells_usage=bool((body.get("stream_options") or {}).get("include_usage")))

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        call, body = await self._said(request)
        finish = "end_turn" if self.knobs.finish == "stop" else self.knobs.finish
        answer = messages_answer(call.text, self.knobs.answers_as or str(body.get("model")), finish)
        return await self._answer(request, call, answer, messages_events(answer) if self._streams(body) else ())

    async def _responses(self, request: web.Request) -> web.StreamResponse:
        call, body = await self._said(request, responses_chat)
        answer = response_answer(call.text, self.knobs.answers_as or str(body.get("model")), self.knobs.finish)
        return await self._answer(request, call, answer, response_events(answer) if self._streams(body) else ())

    async def _generated(self, request: web.Request) -> web.StreamResponse:
        """Answer in Google's form or, for `rawPredict`, in Anthropic's."""
        model, _, method = request.match_info["call"].partition(":")
        if method.endswith("awPredict"):
            call, body = await self._said(request, lambda body: {**body, "model": model})
            message = messages_answer(call.text, model)
            return await self._answer(request, call, message, messages_events(message) if self._streams(body) else ())
        call, body = await self._said(request, lambda body: gemini_chat(body, model))
        answer = gemini_answer(call.text, self.knobs.answers_as or model, self.knobs.finish)
        is_stream = method == "streamGenerateContent" and request.query.get("alt") == "sse"
        return await self._answer(request, call, answer, gemini_events(answer) if is_stream else ())

    async def _converse(self, request: web.Request) -> web.StreamResponse:
        call, _ = await self._said(request, lambda body: converse_chat(body, request.match_info["model"]))
        return await self._answer(request, call, converse_answer(call.text, self.knobs.finish))

    def _streams(self, body: Any) -> bool:
        return bool(body.get("stream")) and self.knobs.streams

    async def _said(self, request: web.Request, as_chat: Callable[[Any], Any] = lambda body: body) -> tuple[Call, Any]:
        raw = await request.read()
        sent = json.loads(raw)
        body = as_chat(sent)
        said = body.get("messages", [])
        role = next((role for role in ROLES if str(body.get("model", "")).endswith(role)), "other")
        if [message.get("content") for message in said] == [KNOCK_WORDS]:
            role = "knock"
        call = self._note(request, raw, sent, role)
        n_said = sum(message["role"] == "assistant" for message in said)
        texts = self.knobs.replies.get(role) or DEFAULT_REPLIES[role]
        tag = call.digest[:8]
        call.text = texts[n_said % len(texts)]
        if role not in self.knobs.replies:
            call.text = call.text.format(tag=tag, score=1 + int(tag, 16) % 5)
        return call, body

    def _is_let_in(self, request: web.Request) -> bool:
        alone = request.headers.get("x-api-key") or request.headers.get("x-goog-api-key")
        given = (request.headers.get("Authorization"), alone)
        return not self.knobs.key or given in {(f"Bearer {self.knobs.key}", None), (None, self.knobs.key)}

    async def _app(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        if request.content_type == "application/x-www-form-urlencoded":
            body: Any = dict(parse_qsl(raw.decode(), keep_blank_values=True, errors="strict"))
        else:
            body = json.loads(raw) if raw else {}
        call = self._note(request, raw, body, "knock" if request.method == "OPTIONS" else "application")
        call.text = "" if body.get("q") == "silence" else f"You said: {body.get('q', '')}"
        return await self._answer(request, call, {"text": call.text, "data": [{"reply": call.text}]})

    def _note(self, request: web.Request, raw: bytes, body: Any, role: str) -> Call:
        number = len(self.calls) + 1
        knobs = self.knobs
        if number <= len(knobs.faults):
            fault = knobs.faults[number - 1]
        else:
            fault = knobs.fault if knobs.every and number % knobs.every == 0 else "ok"
        digest = hashlib.sha256(raw).hexdigest()
        schemas = ("response_format", "output_config", "outputConfig", "text")
        if knobs.refuses_schemas and (set(schemas) & set(body) or "responseJsonSchema" in raw.decode()):
            fault = knobs.refuses_schemas
        if knobs.refuses_usage and "stream_options" in body:
            fault = knobs.refuses_usage
        call = Call(
            number=number, role=role, digest=digest, fault=fault, body=body, headers=dict(request.headers.items())
        )
        call.moment_s = time.monotonic()
        self.calls.append(call)
        return call

    async def _answer(self, request: web.Request, call: Call, answer: Any, events: Events = ()) -> web.StreamResponse:
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            if 0 < self.knobs.refuse_above < self.in_flight:
                call.fault = "429"
                return await respond(request, call.fault, answer, self.knobs)
            if self.knobs.latency_s:
                await asyncio.sleep(self.knobs.latency_s)
            if not self._is_let_in(request):
                call.fault = "401"
            call.answered = call.fault == "ok"
            if events and call.fault in {"ok", CUT, BROKEN, COMPLAINING, ODD}:
                return await send(request, events, call.fault)
            return await respond(request, call.fault, answer, self.knobs)
        finally:
            self.in_flight -= 1

    async def _models(self, request: web.Request) -> web.Response:
        self.n_models += 1
        if not self._is_let_in(request):
            return error_answer(401, "Incorrect API key provided", {})
        return web.json_response({"object": "list", "data": [{"id": name} for name in self.knobs.models]})

    async def _stats(self, request: web.Request) -> web.Response:
        return web.json_response(self.stats)

    async def _calls(self, request: web.Request) -> web.Response:
        shown = ("number", "role", "digest", "fault", "answered", "text", "moment_s")
        rows = [{name: getattr(call, name) for name in shown} for call in self.calls]
        return web.json_response(rows)

    async def _knobs(self, request: web.Request) -> web.Response:
        self.knobs = replace(self.knobs, **await request.json())
        self.calls, self.n_models, self.max_in_flight = [], 0, self.in_flight
        return web.json_response({})


class LoopbackProcess:
    """The server in a process of its own; arguments are those of the command line."""

    def __init__(self, *arguments: str) -> None:
        self._command = [sys.executable, "-m", "tests.fakes.loopback", *arguments]
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self._process.stdout
        self.port = int(self._process.stdout.readline())
        return self

    def __exit__(self, *_: object) -> None:
        if self._process and self._process.stdout:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()

    @property
    def root(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Base address for a `ModelEndpoint`."""
        return f"{self.root}/v1"

    def stats(self) -> dict[str, Any]:
        """Return the counters."""
        return self._get("/stats")

    def wait_for_silence(self) -> None:
        """Wait until no client is connected except the one that asks: what a killed one sent is counted."""
        while self.stats()["connections"] > 1:
            time.sleep(0.02)

    def calls(self) -> list[dict[str, Any]]:
        """Return all chat calls in order: number, role, digest of the body, fault, answered, text, moment."""
        return self._get("/calls")

    def turn(self, **knobs: Any) -> None:
        """Change knobs and zero the counters."""
        request = urllib.request.Request(f"{self.root}/knobs", json.dumps(knobs).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=60):
            pass

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(self.root + path, timeout=60) as answer:
            return json.load(answer)


def main() -> None:
    """Serve until killed; the first line printed is the port."""
    parser = argparse.ArgumentParser(description="Loopback OpenAI-compatible server with knobs")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--refuse-above", type=int, default=0, help="calls in flight above which it answers 429")
    parser.add_argument("--every", type=int, default=0, help="every n-th call fails")
    parser.add_argument("--fault", default="500", help="how it fails, e.g. 429, 500, empty, hang")
    parser.add_argument("--faults", default="", help="what becomes of the first calls, e.g. 429,ok,500")
    parser.add_argument("--retry-after", default="0")
    parser.add_argument("--key", default="", help="bearer token that it demands")
    parser.add_argument("--replies", default="{}", help="JSON: role to list of texts")
    given = parser.parse_args()
    server = Loopback(
        latency_s=given.latency,
        refuse_above=given.refuse_above,
        every=given.every,
        fault=given.fault,
        faults=tuple(filter(None, given.faults.split(","))),
        retry_after=given.retry_after,
        key=given.key,
        replies=json.loads(given.replies),
    )
    asyncio.run(server.serve(given.port, announce=True))


if __name__ == "__main__":
    main()
