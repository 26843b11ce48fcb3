"""Conformance test of an application."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

from theodolite.domain.errors import (
    ContentRefused,
    GatewayError,
    RateLimited,
    Rejected,
    Severity,
    TemplateError,
    TimedOut,
    Unreachable,
)
from theodolite.domain.flow import Exchange, SayToApplication
from theodolite.domain.network import NetworkUse
from theodolite.execution.clients import kind_of
from theodolite.ports.application import (
    ApplicationClient,
    Conversing,
    Endpoint,
    EndpointCheck,
    Lenient,
    Networked,
    Resettable,
)

SLOW_S = 10.0
"""Reply time above which the check warns that testers will wait; seconds."""

GREETING = "Hello! What can you help me with?"

KEEP = "Please keep this code word in mind: {word}. Which code word is it?"

RECALL = "Which code word did I ask you to keep in mind?"

ODD = 'Two lines,\nwith "quotes", {{ braces }}, \\ and ünïcödé \N{WAVING HAND SIGN}. What do you make of them?'

LONG = "This is a long prompt. " * 180 + "What was it about?"

WORDS = ("quillwort-417", "bellwether-902", "marrow-385")
"""Code words, which do not occur by chance."""

_TAG = re.compile(
    r"</?(?:html|body|div|span|p|br|hr|ul|ol|li|b|i|u|strong|em|h[1-6]|table|tr|td|th|a|img|script|style)\b[^<>]*>"
    r"|&(?:nbsp|amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);",
    re.IGNORECASE,
)

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Remark:
    """An observation; an error if it would make dialogues less useful."""

    message: str
    severity: Severity = Severity.ERROR


@dataclass(slots=True, kw_only=True)
class Examination:
    """Findings of a few calls to one application.

    Attributes:
        name: Name of the application in the study.
        remarks: The remarks, each once.
        calls: Calls that were made; count.
        slowest_s: Time of the slowest reply; seconds.
        version: Version that the application reports; empty if it reports none.
        unexamined: Why it could not be examined; empty if it could.
        hint: Suggested next step, e.g. a command line; empty if there is none.
        texts: Its replies, in order.
        network: Network use of its code; None if it is not code.
    """

    name: str
    remarks: list[Remark] = field(default_factory=list)
    calls: int = 0
    slowest_s: float = 0.0
    version: str = ""
    unexamined: str = ""
    hint: str = ""
    texts: list[str] = field(default_factory=list)
    network: NetworkUse | None = None

    def note(self, message: str, severity: Severity = Severity.ERROR) -> None:
        """Store a remark, each once."""
        remark = Remark(message, severity)
        if remark not in self.remarks:
            self.remarks.append(remark)

    def has_not_met(self, check: EndpointCheck) -> None:
        """Store why the application could not be examined, its address, and the remedy."""
        self.unexamined = f"{check.host}: {check.answer}" if check.host else check.answer
        self.hint = check.hint


async def examine(name: str, application: ApplicationClient) -> Examination:
    """Call an application a few times and return the results.

    It ends early if there is no answer, or if the application hangs or fails
    twice at plain prompts: more calls would show the same at the same cost.
    """
    result = Examination(name=name)
    if await _is_unreachable(application, result):
        return result
    probe = _Probe(application, result)
    try:
        if await probe.answers():
            await probe.memory()
            await probe.crossing()
            await probe.odd_prompts()
        else:
            probe.ending = "; nothing further was tried"
    except TimedOut as error:
        result.note(f"hangs: {error}; nothing further was tried")
    except GatewayError as error:
        result.unexamined = str(error)
    finally:
        await probe.close()
    probe.tell_failures()
    _look_at_texts(result)
    _look_at_interface(result, application)
    return result


async def greet(name: str, application: ApplicationClient) -> Examination:
    """Call an application once, with a greeting, and return the result."""
    result = Examination(name=name)
    if await _is_unreachable(application, result):
        return result
    probe = _Probe(application, result)
    try:
        await probe.greets()
    except GatewayError as error:
        result.unexamined = str(error)
    finally:
        await probe.close()
    probe.tell_failures()
    _look_at_texts(result)
    return result


async def _is_unreachable(application: ApplicationClient, result: Examination) -> bool:
    """Return whether the endpoint gives no answer; then the result states why, and the connection is closed."""
    if not isinstance(application, Endpoint):
        return False
    check = await application.check_endpoint()
    if check.alive:
        return False
    result.has_not_met(check)
    await application.close()
    return True


def _is_out_of_reach(error: GatewayError) -> bool:
    """Return whether an error only means that the application could not be called."""
    without_key = isinstance(error, Rejected) and (not error.tries or error.status in {401, 403})
    return isinstance(error, Unreachable | RateLimited) or without_key


@dataclass(slots=True)
class _Probe:
    """Calls an application and stores its replies."""

    application: ApplicationClient
    found: Examination
    # A server may remember the sessions of an earlier examination.
    mark: str = field(default_factory=lambda: secrets.token_hex(4))
    sessions: dict[str, None] = field(default_factory=dict)
    failures: list[tuple[str, GatewayError | TemplateError]] = field(default_factory=list)
    first: str = ""
    ending: str = ""

    async def greets(self) -> None:
        """Send a plain prompt."""
        await self._ask("greeting", "a greeting", GREETING)

    async def answers(self) -> bool:
        """Send two plain prompts, and return whether any call succeeded; a filtered reply is an answer."""
        await self.greets()
        self.first = await self._ask("memory", "a word to keep in mind", KEEP.format(word=WORDS[0]))
        return bool(self.found.texts) or any(isinstance(error, ContentRefused) for _, error in self.failures)

    async def memory(self) -> None:
        """Look for the word of one session in its replies and in those of others."""
        word, text = WORDS[0], KEEP.format(word=WORDS[0])
        before = Exchange(prompt=text, response=self.first)
        again = await self._ask("memory", "the word that it was given", RECALL, before)
        if self.first and again and word not in again:
            message = "forgot turn 1 in turn 2; this is fine if prompts are independent"
            self.found.note(message, Severity.NOTE)
        if word in await self._ask("stranger", "a word that it was never given", RECALL):
            self.found.note("knows in one session what was said in another one; sessions must not share their state")
        if self.first and isinstance(self.application, Resettable):
            await self._reset(self.application, word)

    async def crossing(self) -> None:
        """Open two concurrent sessions, each with its own word."""
        ours = WORDS[1:]
        replies = await asyncio.gather(
            *(self._ask(word, "two sessions at once", KEEP.format(word=word)) for word in ours)
        )
        if any(other in reply for reply, other in zip(replies, reversed(ours), strict=True)):
            self.found.note("two sessions at once: one got words of the other; sessions must not share their state")

    async def odd_prompts(self) -> None:
        await self._ask("odd", "a prompt with line breaks, quotation marks and braces", ODD)
        await self._ask("long", f"a prompt of {len(LONG):,} letters", LONG)

    async def close(self) -> None:
        if isinstance(self.application, Conversing):
            for session in self.sessions:
                await self.application.end(session)
        await self.application.close()

    async def _reset(self, application: Resettable, word: str) -> None:
        try:
            await application.restart(self._key("memory"))
        except GatewayError as error:
            self._failed("a new dialogue", error)
            return
        if word in await self._ask("memory", "a word from before the reset", RECALL):
            self.found.note("state survives `StartSession`: it knows what was said in the dialogue before")

    async def _ask(self, session: str, what: str, prompt: str, *history: Exchange) -> str:
        """Return the reply; empty if there is none."""
        self.sessions[self._key(session)] = None
        self.found.calls += 1
        request = SayToApplication(
            application=self.found.name, prompt=prompt, turn=len(history) + 1, item=session, history=history
        )
        try:
            reply = await self.application.reply(request, session=self._key(session))
        except (GatewayError, TemplateError) as error:
            self._failed(what, error)
            return ""
        self.found.slowest_s = max(self.found.slowest_s, reply.latency_s)
        self.found.version = self.found.version or reply.answered_as
        self.found.texts.append(reply.text)
        return reply.text

    def _key(self, session: str) -> str:
        return f"check-{self.mark}-{session}"

    def _failed(self, what: str, error: GatewayError | TemplateError) -> None:
        if isinstance(error, TimedOut) or (isinstance(error, GatewayError) and _is_out_of_reach(error)):
            raise error
        self.failures.append((what, error))

    def tell_failures(self) -> None:
        """Record each kind of failure once, with the first failed call."""
        alike: dict[tuple[type, str], list[tuple[str, GatewayError | TemplateError]]] = {}
        for what, error in self.failures:
            # If every call fails, messages that differ from call to call add nothing.
            text = str(error) if self.found.texts else ""
            alike.setdefault((type(error), text), []).append((what, error))
        for (what, error), *more in alike.values():
            others = f" and {len(more)} more call{'s' if len(more) > 1 else ''}" if more else ""
            severity = Severity.NOTE if isinstance(error, ContentRefused) else Severity.ERROR
            self.found.note(f"{what}{others}: {kind_of(error).value}: {error}{self.ending}", severity)


def _look_at_texts(result: Examination) -> None:
    tags = [tag for text in result.texts if (tag := _first_tag(text))]
    if tags:
        result.note(
            f"replies with HTML such as `{tags[0]}`; expected text or Markdown, since tags are shown as they are."
            " Set `markup: html` for a function or a class, and replies are turned into text"
        )
    if len(result.texts) > 2 and len(set(result.texts)) == 1:
        result.note("said the same words to every prompt; is it the right address or function?", Severity.NOTE)
    if result.slowest_s > SLOW_S:
        result.note(f"took {result.slowest_s:.0f} s for its slowest reply; people will wait as long", Severity.NOTE)


def _look_at_interface(result: Examination, application: ApplicationClient) -> None:
    if isinstance(application, Networked):
        result.network = application.network
    if not isinstance(application, Lenient):
        return
    for remark in application.remarks:
        result.note(remark, Severity.NOTE)
    if isinstance(application, Resettable) and result.texts and not result.version:
        result.note("states no version, so versions cannot be distinguished", Severity.NOTE)


def _first_tag(text: str) -> str:
    """Return the first HTML tag outside of code; code may show any."""
    tag = _TAG.search(_CODE.sub("", text))
    return tag[0][:40] if tag else ""


def exit_code_of(examinations: Iterable[Examination]) -> int:
    """Return 2 if an application has an error, 3 if one could not be examined, else 0."""
    seen = list(examinations)
    if any(remark.severity is Severity.ERROR for result in seen for remark in result.remarks):
        return 2
    return 3 if any(result.unexamined for result in seen) else 0
