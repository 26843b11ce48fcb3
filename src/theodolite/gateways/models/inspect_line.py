"""Inspect lines: one call of Inspect's model API, and what became of it in our words.

`inspect_ai` is an optional extra and large; it is imported when a study names
such a model, and nowhere else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

from theodolite.domain.errors import InputError, MalformedReply, RateLimited, Rejected, ServerFault, TimedOut
from theodolite.domain.flow import AskModel, Reply, Speaker
from theodolite.domain.model import ModelEndpoint
from theodolite.gateways.attempt_error import Again, AttemptError, of_status
from theodolite.gateways.models.inspect_answer import config_fields, read_output
from theodolite.gateways.secret_redaction import Secret
from theodolite.ports.application import OnChunk
from theodolite.ports.clock import Clock

EXTRA = "pip install 'theodolite[inspect]'"
"""How the extra is installed."""

_MARKUP = re.compile(r"\[/?(?:bold|italic|dim|underline|red|green|blue|yellow)\]")
"""What makes Inspect's own messages look well in its terminal."""

_NOT_MEANT = (TypeError, AttributeError, LookupError)
"""What providers' code trips over where an answer has another form than it expects."""


@dataclass(slots=True)
class _Opened:
    """Inspect's model, which belongs to one event loop, or what is making it."""

    loop: asyncio.AbstractEventLoop
    making: asyncio.Future[Any]

    def model(self) -> Any:
        """Return the model; None while there is none."""
        is_made = self.making.done() and not self.making.cancelled() and self.making.exception() is None
        return self.making.result() if is_made else None


@dataclass(slots=True)
class _Listener:
    """Hands words on and remembers whether there were any."""

    on_chunk: OnChunk
    heard: list[str] = field(default_factory=list)

    async def hear(self, event: Any) -> None:
        if getattr(event, "type", "") == "text":
            self.heard.append(event.text)
            self.on_chunk(event.text)

    async def end(self, text: str) -> None:
        if not self.heard:
            self.on_chunk(text)


class InspectLine:
    """Makes one attempt at a time; limits, the retry policy and further attempts are not its business."""

    def __init__(self, endpoint: ModelEndpoint, *, key: str, clock: Clock) -> None:
        """Keep what is needed; nothing is opened before the first call.

        Args:
            endpoint: What the study says; its `params` are fields of Inspect's `GenerateConfig`.
            key: The key itself, where the study names its variable; else Inspect looks for its provider's own.
            clock: Tells the time.

        Raises:
            InputError: If the extra is missing, or the parameters are none of Inspect's.
        """
        _require_extra(endpoint)
        self._endpoint = endpoint
        self._key = key
        self.secret = Secret(key, variable=endpoint.key)
        self._clock = clock
        self._fields = config_fields(endpoint)
        self._opened: _Opened | None = None

    def __repr__(self) -> str:
        return f"InspectLine({self._endpoint.name!r}, {self._endpoint.model!r})"

    async def attempt(self, request: AskModel, *, on_chunk: OnChunk | None, timeout_s: float) -> Reply | AttemptError:
        """Ask once and return what came.

        Args:
            request: What the model is asked.
            on_chunk: Receives pieces as they arrive.
            timeout_s: Time limit, once the provider's code is loaded; seconds.
        """
        listener = _Listener(on_chunk) if on_chunk is not None else None
        try:
            model = await self._open()
            begun = self._clock.monotonic_s()
            async with asyncio.timeout(timeout_s):
                output = await self._generate(model, request, listener)
        except TimeoutError:
            return AttemptError(kind=TimedOut, words=f"no answer within {timeout_s:.3g} s", again=Again.ONCE)
        except Exception as error:  # noqa: BLE001 - providers raise what they like; this is the boundary
            attempt_error = self._trouble_of(error)
            return (
                replace(attempt_error, again=Again.NEVER) if listener is not None and listener.heard else attempt_error
            )
        latency_s = self._clock.monotonic_s() - begun
        outcome = read_output(output, latency_s=latency_s, price=self._endpoint.price, secret=self.secret)
        if listener is not None and isinstance(outcome, Reply):
            await listener.end(outcome.text)
        return outcome

    async def close(self) -> None:
        """Let go of connections."""
        opened, self._opened = self._opened, None
        model = opened.model() if opened is not None and not opened.loop.is_closed() else None
        if model is not None:
            await model.api.aclose()

    async def _generate(self, model: Any, request: AskModel, listener: _Listener | None) -> Any:
        from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, GenerateConfig

        kinds = {
            Speaker.SYSTEM: ChatMessageSystem,
            Speaker.USER: ChatMessageUser,
            Speaker.ASSISTANT: ChatMessageAssistant,
        }
        messages = [kinds[message.speaker](content=message.text) for message in request.messages]
        config = GenerateConfig(**_schema_fields(request.answer_schema))
        return await model.generate(messages, config=config, on_stream=listener.hear if listener else None)

    async def _open(self) -> Any:
        """Return the model; the first time, what a provider's code imports takes seconds, in which others go on."""
        loop = asyncio.get_running_loop()
        opened = self._opened
        if opened is None or opened.loop is not loop or (opened.making.done() and opened.model() is None):
            opened = self._opened = _Opened(loop, asyncio.ensure_future(asyncio.to_thread(self._made)))
        return await asyncio.shield(opened.making)

    def _made(self) -> Any:
        from inspect_ai.model import GenerateConfig, get_model

        own = {"max_retries": 0, "max_connections": self._endpoint.parallel, "adaptive_connections": False}
        model = get_model(
            self._endpoint.model,
            config=GenerateConfig(**{**self._fields, **own}),
            base_url=self._endpoint.url or None,
            api_key=self._key or None,
            memoize=False,
        )
        _leave_retries_to_us(model)
        return model

    def _trouble_of(self, error: Exception) -> AttemptError:
        """Return what a provider's error means; Inspect knows which of them pass."""
        last = getattr(error, "last_attempt", None)
        cause = (last.exception() if last is not None else None) or error
        words = self.secret.scrub(str(getattr(cause, "message", "") or cause) or type(cause).__name__)
        status = getattr(cause, "status_code", None)
        words = _MARKUP.sub("", words).removeprefix("ERROR: ").removeprefix(f"Error code: {status} - ")
        model = self._opened.model() if self._opened is not None else None
        decision = model.api.should_retry(cause) if model is not None else False
        if isinstance(status, int):
            return of_status(status, words, asked_wait_s=getattr(decision, "retry_after", None))
        if isinstance(cause, _NOT_MEANT):
            return AttemptError(
                kind=MalformedReply, words=f"Inspect could not read the answer: {words}", again=Again.ONCE
            )
        if not decision:
            return AttemptError(kind=Rejected, words=words)
        is_limit = getattr(decision, "kind", "") == "rate_limit"
        return AttemptError(kind=RateLimited if is_limit else ServerFault, words=words, again=Again.UNTIL_SPENT)


def _require_extra(endpoint: ModelEndpoint) -> None:
    if find_spec("inspect_ai") is None:
        message = (
            f"model `{endpoint.name}` (`kind: inspect`) is reached through Inspect, which is not installed; "
            f"try  {EXTRA}"
        )
        raise InputError(message)


def _leave_retries_to_us(model: Any) -> None:
    """Switch off what a maker's own client tries again: it would hide refusals, and attempts that cost."""
    client: Any = getattr(model.api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0


def _schema_fields(schema: Mapping[str, object] | None) -> dict[str, Any]:
    if schema is None:
        return {}
    from inspect_ai.model import ResponseSchema

    return {"response_schema": ResponseSchema(name="answer", json_schema=schema, strict=True)}
