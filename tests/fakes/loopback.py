"""A loopback OpenAI-compatible server whose every misbehaviour is a knob.

Use it in a test, in a thread of this process (works in sync and async tests)::

    with Loopback(latency_s=0.05, faults=("429", "ok")) as server:
        ModelEndpoint(name="app", url=server.url, model="target")
        server.stats["requests"]

or as a process of its own, for tests that kill things::

    with LoopbackProcess("--latency", "0.05") as server:
        server.url; server.stats(); server.calls()

or from a shell: `python tests/fakes/loopback.py`, which prints its port first.

Served: `POST /v1/chat/completions`, `GET /v1/models`, `POST /app` (an application: `{"q": ..., "sid": ...}` ->
`{"text": ..., "data": [{"reply": ...}]}`), `GET /stats`, `GET /calls`, `POST /knobs` (JSON; also zeroes the counters).
The model name's suffix (`user-sim`, `target`, `judge`) is the role by which calls are counted and answered; the
knock before a run has the role `knock` and is never a duplicate.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import subprocess
import sys
import threading
import urllib.request
from collections import Counter
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

from aiohttp import web

KNOCK_WORDS = "Reply with the word ok."

ROLES = ("user-sim", "target", "judge")

DEFAULT_REPLIES: dict[str, list[str]] = {
    "user-sim": ["Could you tell me more about item {tag}?", "How would {tag} work for my order?"],
    "target": ["For reference {tag}: the order ships in two days and returns are free for thirty days."],
    "judge": ['{{"reason": "The reply answers the question ({tag}).", "score": {score}}}'],
    "other": ["ok"],
    "knock": ["ok"],
}


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """How the server behaves.

    `faults` names what becomes of the first calls, in order; afterwards every `every`-th call gets `fault`
    (0: none). `replies` maps a role to the texts given in turn (by the number of assistant messages so far);
    `{tag}` is a hash of the request's body and `{score}` a number from 1 to 5 drawn from it.
    """

    latency_s: float = 0.0
    faults: tuple[str, ...] = ()
    every: int = 0
    fault: str = "500"
    retry_after: str = "0"
    key: str = ""
    models: tuple[str, ...] = ROLES
    answers_as: str = ""
    finish: str = "stop"
    replies: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Call:
    """One chat call as the server saw it."""

    number: int
    role: str
    digest: str
    fault: str
    answered: bool = False
    text: str = ""
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class Loopback:
    """The server in a thread of this process."""

    def __init__(self, **knobs: Any) -> None:
        self.knobs = Knobs(**knobs)
        self.calls: list[Call] = []
        self.n_models = self.in_flight = self.max_in_flight = self.port = 0
        self._ready = threading.Event()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve(0)), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10), "the loopback server did not start"
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
        }

    async def serve(self, port: int, *, announce: bool = False) -> None:
        """Serve until the context ends (or, in a process, until it is killed)."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_route("*", "/app", self._app)
        app.router.add_get("/stats", self._stats)
        app.router.add_get("/calls", self._calls)
        app.router.add_post("/knobs", self._knobs)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        self.port = runner.addresses[0][1]
        if announce:
            sys.stdout.write(f"{self.port}\n")
            sys.stdout.flush()
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        said = body.get("messages", [])
        role = next((role for role in ROLES if str(body.get("model", "")).endswith(role)), "other")
        if [message.get("content") for message in said] == [KNOCK_WORDS]:
            role = "knock"
        call = self._note(request, raw, body, role)
        n_said = sum(message["role"] == "assistant" for message in said)
        texts = self.knobs.replies.get(role) or DEFAULT_REPLIES[role]
        tag = call.digest[:8]
        call.text = texts[n_said % len(texts)]
        if role not in self.knobs.replies:
            call.text = call.text.format(tag=tag, score=1 + int(tag, 16) % 5)
        answer = chat_answer(call.text, self.knobs.answers_as or str(body.get("model")), self.knobs.finish)
        return await self._answer(request, call, answer)

    async def _app(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
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
        call = Call(
            number=number, role=role, digest=digest, fault=fault, body=body, headers=dict(request.headers.items())
        )
        self.calls.append(call)
        return call

    async def _answer(self, request: web.Request, call: Call, answer: Any) -> web.StreamResponse:
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            if self.knobs.latency_s:
                await asyncio.sleep(self.knobs.latency_s)
            if self.knobs.key and request.headers.get("Authorization") != f"Bearer {self.knobs.key}":
                call.fault = "401"
            call.answered = call.fault == "ok"
            return await respond(request, call.fault, answer, self.knobs)
        finally:
            self.in_flight -= 1

    async def _models(self, request: web.Request) -> web.Response:
        self.n_models += 1
        if self.knobs.key and request.headers.get("Authorization") != f"Bearer {self.knobs.key}":
            return error_answer(401, "Incorrect API key provided", {})
        return web.json_response({"object": "list", "data": [{"id": name} for name in self.knobs.models]})

    async def _stats(self, request: web.Request) -> web.Response:
        return web.json_response(self.stats)

    async def _calls(self, request: web.Request) -> web.Response:
        shown = ("number", "role", "digest", "fault", "answered", "text")
        rows = [{name: getattr(call, name) for name in shown} for call in self.calls]
        return web.json_response(rows)

    async def _knobs(self, request: web.Request) -> web.Response:
        self.knobs = replace(self.knobs, **await request.json())
        self.calls, self.n_models, self.max_in_flight = [], 0, self.in_flight
        return web.json_response({})


def chat_answer(text: str | None, model: str, finish: str = "stop") -> dict[str, Any]:
    """Return a well-formed chat completion."""
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
    }


def error_answer(status: int, words: str, headers: dict[str, str]) -> web.Response:
    """Return an error in the form of the OpenAI API."""
    return web.json_response({"error": {"message": words, "code": None}}, status=status, headers=headers)


ERROR_WORDS = {400: "`temperature` is not supported", 401: "Incorrect API key provided", 429: "Rate limit reached"}


async def respond(request: web.Request, fault: str, answer: Any, knobs: Knobs) -> web.StreamResponse:
    """Answer well, or in the way that the fault's name says."""
    if fault == "ok":
        return web.json_response(answer)
    if fault.isdigit():
        headers = {"Retry-After": knobs.retry_after} if fault in {"429", "503", "529"} and knobs.retry_after else {}
        return error_answer(
            int(fault),
            ERROR_WORDS.get(int(fault), HTTPStatus(int(fault)).phrase if fault != "529" else "Overloaded"),
            headers,
        )
    if fault in RAW_FAULTS:
        return await answer_raw(request, RAW_FAULTS[fault])
    if fault in ALTERED:
        return web.json_response(ALTERED[fault])
    return await answer_slowly(request, fault)


def _altered(**changes: Any) -> dict[str, Any]:
    answer = chat_answer("", "target")
    answer["choices"][0]["message"].update(changes.pop("message", {}))
    answer["choices"][0].update(changes)
    return answer


ALTERED: dict[str, Any] = {
    "no-choices": {"id": "x", "object": "chat.completion", "choices": []},
    "not-object": ["a", "list"],
    "odd-content": _altered(message={"content": 7}),
    "odd-choice": {"choices": ["text"]},
    "empty": _altered(message={"content": ""}),
    "blank": _altered(message={"content": " \n "}),
    "null": _altered(message={"content": None}),
    "filter": _altered(message={"content": None}, finish_reason="content_filter"),
    "refusal": _altered(message={"content": None, "refusal": "I cannot help with that."}),
    "error-in-200": {"error": {"message": "upstream is down"}},
}

_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
RAW_FAULTS: dict[str, bytes] = {
    "reset": b"",
    "html": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 26\r\n\r\n<html><p>Sign in</p></html>"[:-1],
    "truncated": _OK + b'Content-Length: 13\r\n\r\n{"choices": [',
    "wrong-length": _OK + b'Content-Length: 9000\r\n\r\n{"choices": []}',
    "wrong-charset": _OK.replace(b"json", b"json; charset=utf-8") + b"Content-Length: 4\r\n\r\n\xff\xfe{\x00",
    "unknown-charset": _OK.replace(b"json", b"json; charset=klingon") + b"Content-Length: 2\r\n\r\n[]",
    "bad-encoding": _OK + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain",
    "not-http": b"SSH-2.0-OpenSSH_9.6\r\n",
    "bad-chunks": _OK + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n",
    "huge-header": b"HTTP/1.1 200 OK\r\nX-Big: " + b"x" * 100_000 + b"\r\nContent-Length: 2\r\n\r\n{}",
    "redirect": b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/v1\r\nContent-Length: 0\r\n\r\n",
}


async def answer_raw(request: web.Request, payload: bytes) -> web.StreamResponse:
    """Write bytes past the HTTP library, then hang up."""
    if request.transport is not None:
        request.transport.write(payload)
        request.transport.close()
    raise asyncio.CancelledError


async def answer_slowly(request: web.Request, fault: str) -> web.StreamResponse:
    """Hang, drip a byte at a time or send without end."""
    if fault == "hang":
        await asyncio.sleep(3600)
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    piece, pause = (b"x" * 2**20, 0.0) if fault == "huge" else (b" ", 0.02)
    with contextlib.suppress(ConnectionResetError):  # the client has had enough
        for _ in range(64 if fault == "huge" else 100_000):
            await response.write(piece)
            await asyncio.sleep(pause)
    return response


class LoopbackProcess:
    """The server in a process of its own; arguments are those of the command line."""

    def __init__(self, *arguments: str) -> None:
        self._command = [sys.executable, str(Path(__file__).resolve()), "--port", "0", *arguments]
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
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

    def calls(self) -> list[dict[str, Any]]:
        """Return all chat calls in order: number, role, digest of the body, fault, answered, text."""
        return self._get("/calls")

    def turn(self, **knobs: Any) -> None:
        """Change knobs and zero the counters."""
        request = urllib.request.Request(f"{self.root}/knobs", json.dumps(knobs).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=10):
            pass

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(self.root + path, timeout=10) as answer:
            return json.load(answer)


def main() -> None:
    """Serve until killed; the first line printed is the port."""
    parser = argparse.ArgumentParser(description="Loopback OpenAI-compatible server with knobs")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--every", type=int, default=0, help="every n-th call fails")
    parser.add_argument("--fault", default="500", help="how it fails, e.g. 429, 500, empty, hang")
    parser.add_argument("--faults", default="", help="what becomes of the first calls, e.g. 429,ok,500")
    parser.add_argument("--retry-after", default="0")
    parser.add_argument("--key", default="", help="bearer token that it demands")
    parser.add_argument("--replies", default="{}", help="JSON: role to list of texts")
    given = parser.parse_args()
    server = Loopback(
        latency_s=given.latency,
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
