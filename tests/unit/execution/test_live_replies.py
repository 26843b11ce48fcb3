"""Replies that people watch: pace, stopping, lost lines, faults and endings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest
from tests.fakes.reply_sink import FakeReplySink
from tests.fakes.virtual_clock import VirtualClock

from theodolite.domain.dialogue import TurnState
from theodolite.domain.errors import Conflict, ContentRefused, EmptyReply, ServerFault
from theodolite.domain.flow import FILTERED_TEXT, Reply, SayToApplication
from theodolite.domain.live import LiveEnding
from theodolite.domain.run import FailureKind
from theodolite.execution.live_replies import LiveReplies, LiveReply, Pacing, ReplyPiece
from theodolite.ports.application import OnChunk

TEXT = "I can tell you about her character, but not how the series ends. " * 4
REQUEST = SayToApplication(application="app", prompt="Does she survive?", turn=1)
PACING = Pacing()


@dataclass
class Speaker:
    """An application that says its pieces one after the other on a clock."""

    clock: VirtualClock
    pieces: Sequence[str]
    every_s: float = 0.02
    first_s: float = 0.0
    streams: bool = True
    error: Exception | None = None
    sessions: list[str] = field(default_factory=list)
    n_cancelled: int = 0

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        self.sessions.append(session)
        try:
            await self.clock.sleep(self.first_s)
            for piece in self.pieces:
                await self.clock.sleep(self.every_s)
                if self.streams and on_chunk:
                    on_chunk(piece)
        except asyncio.CancelledError:
            self.n_cancelled += 1
            raise
        if self.error:
            raise self.error
        return Reply(text="".join(self.pieces), latency_s=0.5)

    async def close(self) -> None:
        return


class LateClock(VirtualClock):
    """A clock that wakes everybody a little late."""

    async def sleep(self, duration_s: float) -> None:
        await super().sleep(duration_s + 0.01)


@dataclass
class Stage:
    """An engine with its clock and its keeper."""

    clock: VirtualClock
    keeper: FakeReplySink
    live: LiveReplies

    def speaker(self, pieces: Sequence[str] = tuple(TEXT), **how: object) -> Speaker:
        return Speaker(self.clock, pieces, **how)

    def ask(self, speaker: Speaker, key: str = "t1", pacing: Pacing = PACING) -> LiveReply:
        return self.live.begin(key, speaker, REQUEST, session="s1", pacing=pacing)

    async def ended(self, reply: LiveReply) -> LiveEnding:
        async for _ in reply.watch():
            pass
        return self.keeper.ended[reply.key]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    clock, keeper = VirtualClock(), FakeReplySink()
    live = LiveReplies(keeper, clock)
    async with clock.passing(), live.open():
        yield Stage(clock, keeper, live)


async def appearance(stage: Stage, reply: LiveReply, after: int = 0) -> list[tuple[float, ReplyPiece]]:
    return [(round(stage.clock.passed_s, 3), shown) async for shown in reply.watch(after)]


async def test_the_displayed_text_is_the_reply_and_is_stored(stage: Stage) -> None:
    reply = stage.ask(stage.speaker())

    pieces = [shown.text async for shown in reply.watch()]

    assert "".join(pieces) == TEXT
    assert stage.keeper.ended["t1"].state is TurnState.COMPLETE
    assert stage.keeper.ended["t1"].text == TEXT


async def test_streaming_and_whole_replies_look_the_same(stage: Stage) -> None:
    fast = stage.ask(stage.speaker(every_s=0.0001), "in pieces")
    at_once = stage.ask(stage.speaker([TEXT], streams=False), "at once")

    seen = await asyncio.gather(appearance(stage, fast), appearance(stage, at_once))

    assert seen[0] == seen[1]
    assert len(seen[0]) > 5


@pytest.mark.parametrize(("first_s", "waited_s"), [(0.0, 1.2), (0.7, 1.2), (3.0, 3.02)])
async def test_a_reply_starts_after_the_minimum_delay_and_a_slow_one_is_visible(
    stage: Stage, first_s, waited_s
) -> None:
    ending = await stage.ended(stage.ask(stage.speaker([TEXT], first_s=first_s)))

    assert ending.waited_s == pytest.approx(waited_s)
    assert ending.latency_s == pytest.approx(first_s + 0.02)


async def test_a_late_chunk_does_not_delay_the_following_ones() -> None:
    clock, keeper = LateClock(), FakeReplySink()
    live = LiveReplies(keeper, clock)
    async with clock.passing(), live.open():
        stage = Stage(clock, keeper, live)
        seen = await appearance(stage, stage.ask(stage.speaker([TEXT], every_s=0)))

    moments = [moment for moment, _ in seen]
    assert len(moments) > 10
    assert moments[-1] - moments[0] == pytest.approx(PACING.beat_s * (len(moments) - 1), abs=PACING.beat_s)


async def test_with_whole_replies_even_a_slow_stream_appears_only_at_its_end(stage: Stage) -> None:
    slow = stage.speaker(list("slow words"), every_s=1.0)

    seen = await appearance(stage, stage.ask(slow, pacing=Pacing(whole=True)))

    assert seen == [(10.0, ReplyPiece(upto=10, text="slow words"))]


async def test_a_stop_stores_the_displayed_text_and_cancels_the_call(stage: Stage) -> None:
    speaker = stage.speaker(every_s=0.5)
    reply = stage.ask(speaker)
    async for shown in reply.watch():
        if shown.upto >= 3:
            stage.live.stop("t1")

    ending = stage.keeper.ended["t1"]
    assert (ending.state, ending.text, ending.reply) == (TurnState.INTERRUPTED, TEXT[: len(ending.text)], None)
    assert len(ending.text) >= 3
    assert speaker.n_cancelled == 1


async def test_a_stop_during_the_initial_pause_takes_effect_at_once(stage: Stage) -> None:
    reply = stage.ask(stage.speaker([TEXT]))
    await stage.clock.sleep(0.1)
    stage.live.stop("t1")

    ending = await stage.ended(reply)

    assert (ending.state, ending.text, ending.waited_s) == (TurnState.INTERRUPTED, "", None)
    assert stage.clock.passed_s < 0.5


async def test_each_watcher_resumes_at_its_last_position(stage: Stage) -> None:
    reply = stage.ask(stage.speaker())
    async for shown in reply.watch():
        if shown.upto > 30:
            break

    reset_wakeups = [piece.text async for piece in reply.watch(after=shown.upto)]

    assert TEXT[: shown.upto] + "".join(reset_wakeups) == TEXT
    assert stage.keeper.ended["t1"].state is TurnState.COMPLETE


async def test_an_idle_watcher_receives_keep_alive_messages() -> None:
    reply = LiveReply("t1")
    watching = reply.watch(pulses=True)
    asyncio.get_running_loop().call_soon(reply.pulse)

    assert await anext(watching) == ReplyPiece(upto=0, text="")
    reply.hear("so")
    reply.show(2)
    assert await anext(watching) == ReplyPiece(upto=2, text="so")


async def test_a_reply_is_stored_without_a_watcher(stage: Stage) -> None:
    stage.ask(stage.speaker())
    await stage.clock.sleep(60)

    assert stage.keeper.ended["t1"].text == TEXT
    assert stage.live.find("t1") is None
    assert stage.live.in_flight() == 0


async def test_displayed_texts_are_stored_together_at_intervals(stage: Stage) -> None:
    replies = [stage.ask(stage.speaker(every_s=0.1), key) for key in ("t1", "t2")]
    await asyncio.gather(*map(stage.ended, replies))

    saved = [held["t1"] for held in stage.keeper.held]
    assert all(set(held) == {"t1", "t2"} for held in stage.keeper.held[:-1])
    assert saved == sorted(set(saved), key=len)
    assert all(TEXT.startswith(text) for text in saved)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ServerFault("acme-gpt at api.acme.example fell over"), FailureKind.SERVER_FAULT),
        (EmptyReply("no text"), FailureKind.EMPTY_REPLY),
        (ZeroDivisionError("their bug"), FailureKind.SERVER_FAULT),
    ],
    ids=["server fault", "empty reply", "foreign exception"],
)
async def test_an_error_ends_the_reply_with_its_cause_separate_from_the_text(stage: Stage, error, kind) -> None:
    ending = await stage.ended(stage.ask(stage.speaker(["In that "], error=error)))

    assert (ending.state, ending.kind, ending.text) == (TurnState.ERROR, kind, "In that ")
    assert str(error) in ending.cause


async def test_an_endless_reply_is_an_error_after_the_timeout(stage: Stage) -> None:
    endless = stage.speaker(["x"], first_s=1e9)
    reply = stage.ask(endless, pacing=Pacing(patience_s=0.01))
    await asyncio.sleep(0.05)

    ending = await stage.ended(reply)

    assert (ending.state, ending.kind) == (TurnState.ERROR, FailureKind.TIMED_OUT)
    assert endless.n_cancelled == 1


async def test_a_filter_of_the_application_gives_a_refusal_and_no_error(stage: Stage) -> None:
    at_once = await stage.ended(stage.ask(stage.speaker([], error=ContentRefused("filtered")), "t1"))
    late = await stage.ended(stage.ask(stage.speaker(["In the "], error=ContentRefused("filtered")), "t2"))

    assert (at_once.state, at_once.text) == (TurnState.COMPLETE, FILTERED_TEXT)
    assert (late.state, late.text) == (TurnState.COMPLETE, f"In the \n\n{FILTERED_TEXT}")


async def test_a_turn_has_one_reply_at_a_time(stage: Stage) -> None:
    stage.ask(stage.speaker())

    with pytest.raises(Conflict, match="being answered already"):
        stage.ask(stage.speaker())


async def test_a_turn_can_be_answered_again_after_its_reply_has_ended(stage: Stage) -> None:
    await stage.ended(stage.ask(stage.speaker([], error=ServerFault("down"))))
    ending = await stage.ended(stage.ask(stage.speaker(["up again"])))

    assert (ending.state, ending.text) == (TurnState.COMPLETE, "up again")


async def test_temporary_database_errors_lose_no_text(stage: Stage) -> None:
    stage.keeper.failures = 3

    ending = await stage.ended(stage.ask(stage.speaker()))

    assert (ending.state, ending.text) == (TurnState.COMPLETE, TEXT)


async def test_a_permanent_database_error_is_shown_to_the_watcher(stage: Stage) -> None:
    stage.keeper.failures = 1_000_000
    reply = stage.ask(stage.speaker(["gone"]))
    async for _ in reply.watch():
        pass

    assert reply.ending is not None
    assert (reply.ending.state, reply.ending.cause) == (TurnState.ERROR, "the reply could not be stored")


async def test_shutdown_interrupts_the_reply_and_stores_the_displayed_text() -> None:
    clock, keeper = VirtualClock(), FakeReplySink()
    live = LiveReplies(keeper, clock)
    async with clock.passing(), live.open():
        stage = Stage(clock, keeper, live)
        stage.ask(stage.speaker(every_s=0.5))
        await clock.sleep(5)

    assert keeper.ended["t1"].state is TurnState.INTERRUPTED
    assert 0 < len(keeper.ended["t1"].text) < len(TEXT)
    with pytest.raises(Conflict, match="about to end"):
        stage.ask(stage.speaker())


async def test_a_final_reply_overrides_different_chunks() -> None:
    reply = LiveReply("t1")
    reply.hear("abc\ud83d")
    reply.show(10)

    reply.hear_all("abc?")

    assert (reply.shown, reply.received) == ("abc?", "abc?")
