"""What every application keeps to when a person watches its replies."""

import time

from tests.contract.test_application import AnyApplication, application, say  # noqa: F401  # a fixture
from tests.fakes.aria import made
from tests.fakes.gateway_clock import HastyClock, RealClock
from tests.fakes.local_worker import local_aria
from tests.fakes.reply_sink import FakeReplySink
from theodolite.domain.application import AriaClass
from theodolite.domain.dialogue import TurnState
from theodolite.domain.flow import Exchange, SayToApplication
from theodolite.domain.run import FailureKind
from theodolite.execution.live_replies import LiveReplies, Pacing
from theodolite.gateways.secret_redaction import Credentials

QUICK = Pacing(least_wait_s=0.0, beat_s=0.001, keep_s=0.01)


async def test_a_person_sees_the_reply_of_the_application(application: AnyApplication) -> None:  # noqa: F811
    keeper = FakeReplySink()
    live = LiveReplies(keeper, RealClock())
    async with live.open():
        reply = live.begin("t1", application, say("prompt 0"), session="s1", pacing=QUICK)
        shown = "".join([piece.text async for piece in reply.watch()])

    assert shown == keeper.ended["t1"].text == "You said: prompt 0"
    assert keeper.ended["t1"].state is TurnState.COMPLETE


async def test_a_person_never_sees_silence_as_a_reply(application: AnyApplication) -> None:  # noqa: F811
    keeper = FakeReplySink()
    live = LiveReplies(keeper, RealClock())
    async with live.open():
        reply = live.begin("t1", application, say("silence"), session="s1", pacing=QUICK)
        assert [piece async for piece in reply.watch()] == []

    ending = keeper.ended["t1"]
    assert (ending.state, ending.kind, ending.text) == (TurnState.ERROR, FailureKind.EMPTY_REPLY, "")


async def test_a_dialogue_continues_after_a_stopped_reply_that_blocks_its_thread() -> None:
    def answer(_: object, text: str) -> dict[str, object]:
        time.sleep(0.2 if text == "slow" else 0)
        return {"success": True, "response": f"You said: {text}"}

    kind = made(GetResponse=answer)
    blocking = local_aria("app", AriaClass(target="m:C"), kind, credentials=Credentials(), clock=HastyClock())
    keeper = FakeReplySink()
    live = LiveReplies(keeper, RealClock())
    async with live.open():
        stopped = live.begin("t1", blocking, say("slow"), session="s1", pacing=QUICK)
        live.stop("t1")
        assert [piece async for piece in stopped.watch()] == []
        history = (Exchange(prompt="slow", response=""),)
        further = SayToApplication(application="app", prompt="quick", turn=2, history=history)
        reply = live.begin("t2", blocking, further, session="s1", pacing=QUICK)
        assert "".join([piece.text async for piece in reply.watch()]) == "You said: quick"
    await blocking.close()

    assert [ending.state for ending in keeper.ended.values()] == [TurnState.INTERRUPTED, TurnState.COMPLETE]
