"""Storage of sessions of people."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from tests.contract.given import (
    ANSWERS,
    NOW,
    a_dialogue,
    a_person_session,
    a_reply,
    a_session,
    an_active_session,
    an_annotation,
    an_annotation_unit,
)
from theodolite.domain.choices import UserType
from theodolite.domain.dialogue import Ending, Level, TesterType, TurnState
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.event import AcknowledgedText, Acknowledgement, PersonProfile
from theodolite.domain.event_record import BlindingGuess, GuessedThing, Withdrawal
from theodolite.domain.identity import digest
from theodolite.domain.live import BroughtResult, LiveDialogueSummary, LiveEnding, turns_of
from theodolite.domain.persona import Attempt, AttemptOutcome, Strategy
from theodolite.domain.plan import Slot
from theodolite.domain.run import FailureKind, Run, Unit, UnitKind
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.session import Pauser, SessionState
from theodolite.events.rules import free_slot
from theodolite.store.django_store import DjangoStore as Store

HTML = replace(a_reply(), original="<p>Yes.</p>")
LATER = NOW + timedelta(minutes=5)
ENDED = LiveEnding(state=TurnState.COMPLETE, text="Yes.", reply=a_reply(), latency_s=0.5, waited_s=1.2)
BROKEN = LiveEnding(state=TurnState.ERROR, text="", kind=FailureKind.TIMED_OUT, cause="no answer within 60 s")


def allocate(store: Store, study: str, participant: str, level: Level, stratum: str = "", **limits: Any) -> Slot:
    """Allocate the slot that the rules of events choose."""
    choose = partial(free_slot, level=level, stratum=stratum, **limits)
    return store.events.sessions.allocate(study, participant, level, stratum, choose=choose)


class TestTallies:
    def test_session_time_in_the_database_equals_that_of_the_clock(self, store: Store, run: Run) -> None:
        store.events.sessions.add(a_person_session(run, key=digest("session", "waits"), place=2))
        for place in range(2):
            session = an_active_session(store, run, key=digest("session", str(place)), place=place)
            stopped = session.paused(Pauser.TESTER, LATER)
            ended = stopped.resumed(Pauser.TESTER, LATER + timedelta(minutes=3)).over(
                SessionState.COMPLETE, LATER + timedelta(minutes=10)
            )
            store.events.sessions.update(session.key, lambda _, after=(stopped, ended)[place]: after)
        clocks = [session.clock for session in store.events.sessions.in_study("support")]
        tally = store.events.sessions.tester_tallies("support")["p1"]

        assert (tally.n, tally.n_active, tally.n_ended) == (3, 1, 1)
        assert tally.elapsed_s == sum(clock.elapsed_s(LATER) for clock in clocks) == 300.0 + 720.0


class TestSlots:
    def test_numbers_are_assigned_in_order_and_kept(self, store: Store) -> None:
        numbers = [allocate(store, "support", who, Level.RED_TEAMING).number for who in ("p1", "p2", "p1", "p3")]

        assert numbers == [0, 1, 0, 2]

    def test_a_released_number_is_assigned_to_the_next_person(self, store: Store) -> None:
        for who in ("p1", "p2", "p3"):
            allocate(store, "support", who, Level.RED_TEAMING)
        store.events.sessions.release("support", "p2", Level.RED_TEAMING)

        assert allocate(store, "support", "p4", Level.RED_TEAMING).number == 1
        assert [seat.participant for seat in store.events.sessions.allocations("support")] == ["p1", "p4", "p3"]

    def test_levels_strata_and_studies_have_separate_numbers(self, store: Store) -> None:
        allocate(store, "support", "p1", Level.RED_TEAMING)

        assert allocate(store, "support", "p2", Level.FIELD_TESTING).number == 0
        assert allocate(store, "support", "p3", Level.RED_TEAMING, "adversarial").number == 0
        assert allocate(store, "other", "p4", Level.RED_TEAMING).number == 0

    def test_a_free_number_can_be_chosen(self, store: Store) -> None:
        allocate(store, "support", "p1", Level.RED_TEAMING)
        chosen = allocate(store, "support", "p2", Level.RED_TEAMING, suitable=lambda taken: 3 + len(taken))

        assert chosen.number == 4
        with pytest.raises(Conflict):
            allocate(store, "support", "p3", Level.RED_TEAMING, suitable=lambda _: None)

    def test_an_allocation_is_released_with_its_waiting_sessions_unless_one_has_started(
        self, store: Store, run: Run
    ) -> None:
        waiting, begun = a_person_session(run), an_active_session(store, run, key=digest("b"), participant="p2")
        store.events.sessions.add(waiting)
        for session in (waiting, begun):
            allocate(store, session.study, session.participant, session.level)
        given = [
            store.events.sessions.release_unused(one.study, one.participant, one.level) for one in (waiting, begun)
        ]

        assert given == [True, False]
        assert [one.participant for one in store.events.sessions.in_study(waiting.study)] == ["p2"]
        assert [seat.participant for seat in store.events.sessions.allocations(waiting.study)] == ["p2"]


class TestTopics:
    def test_content_opt_outs_apply_until_they_are_changed(self, store: Store) -> None:
        store.events.participants.set_avoided_topics("support", "p1", ["hate", "eating"])
        store.events.participants.set_avoided_topics("support", "p1", ["hate"])

        assert store.events.participants.avoided_topics("support", "p1") == {"hate"}
        assert store.events.participants.avoided_topics("other", "p1") == frozenset()

    def test_all_people_who_were_asked_are_counted(self, store: Store) -> None:
        for who in ("p1", "p2"):
            asked = Acknowledgement(
                participant=who, study="support", subject=AcknowledgedText.TOPICS, version=digest("1"), at=NOW
            )
            store.events.participants.add_acknowledgement(asked)
        store.events.participants.set_avoided_topics("support", "p2", ["hate"])

        assert store.events.participants.avoided_topics_in("support") == {"p1": frozenset(), "p2": frozenset({"hate"})}

    def test_a_withdrawal_deletes_opt_outs(self, store: Store) -> None:
        store.events.participants.set_avoided_topics("support", "p1", ["hate"])
        store.events.withdrawals.withdraw("support", "p1", Withdrawal.ANONYMISE, now=NOW)

        assert store.events.participants.avoided_topics_in("support") == {}


class TestSessions:
    def test_a_level_has_the_stated_capacity_and_assigned_people_keep_their_place(self, store):
        for who, stratum in (("p1", ""), ("p2", "adversarial")):
            allocate(store, "support", who, Level.RED_TEAMING, stratum, capacity=1)

        assert allocate(store, "support", "p1", Level.RED_TEAMING, capacity=1).number == 0
        with pytest.raises(Conflict):
            allocate(store, "support", "p3", Level.RED_TEAMING, capacity=1)
        with pytest.raises(Conflict):
            allocate(store, "support", "p3", Level.RED_TEAMING, capacity=0)

    def test_a_stored_session_is_read_back_unchanged(self, store: Store, run: Run) -> None:
        session = a_person_session(run, alias="Application K", stratum="everyday", language="pt-BR")
        store.events.sessions.add(session)

        assert store.events.sessions.get(session.key) == session
        assert store.events.sessions.in_study("support") == store.events.sessions.of_participant("p1") == [session]

    def test_a_person_has_one_session_per_position(self, store: Store, run: Run) -> None:
        store.events.sessions.add(a_person_session(run))

        with pytest.raises(Conflict):
            store.events.sessions.add(a_person_session(run, key=digest("another")))

    def test_sessions_of_unknown_runs_are_rejected(self, store: Store, run: Run) -> None:
        with pytest.raises(NotFound):
            store.events.sessions.add(replace(a_person_session(run), run=digest("nowhere")))

    def test_a_revised_session_keeps_its_pauses(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        store.events.sessions.update(session.key, lambda known: known.paused(Pauser.ORGANISER, LATER))

        paused = store.events.sessions.get(session.key)

        assert paused.clock.pausers == {Pauser.ORGANISER}
        assert paused.clock.elapsed_s(LATER + timedelta(hours=1)) == 300.0

    def test_an_unknown_session_is_reported_as_not_found(self, store: Store) -> None:
        with pytest.raises(NotFound):
            store.events.sessions.get(digest("nobody"))


class TestLiveTurns:
    def test_a_prompt_is_stored_before_its_reply(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        turn = store.events.dialogues.add_turn(session.key, "Hello?", now=NOW)

        (dialogue,) = store.events.dialogues.of_session(session.key)
        assert dialogue.turns == (turn,)
        assert (turn.prompt, turn.state, turn.number, dialogue.ordinal) == ("Hello?", None, 1, 0)

    def test_no_prompt_is_accepted_while_a_reply_is_pending(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        store.events.dialogues.add_turn(session.key, "Hello?", now=NOW)

        with pytest.raises(Conflict):
            store.events.dialogues.add_turn(session.key, "Are you there?", now=NOW)

    def test_no_prompt_is_accepted_before_the_session_starts(self, store: Store, run: Run) -> None:
        session = a_person_session(run)
        store.events.sessions.add(session)

        with pytest.raises(Conflict):
            store.events.dialogues.add_turn(session.key, "Hello?", now=NOW)

    def test_a_partial_reply_is_stored_until_the_reply_ends(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        turn = store.events.dialogues.add_turn(session.key, "Hello?", now=NOW)
        store.events.dialogues.save_partials({turn.key: "Ye"})
        held = store.events.dialogues.of_session(session.key)[0].turns[0]
        ended = store.events.dialogues.end_turn(turn.key, ENDED, ["I am Bot"])
        store.events.dialogues.save_partials({turn.key: "Y"})

        assert (held.response, held.state) == ("Ye", None)
        assert store.events.dialogues.of_session(session.key)[0].turns == (ended,)
        assert (ended.response, ended.claims, ended.waited_s, ended.latency_s) == ("Yes.", ("I am Bot",), 1.2, 0.5)
        assert (ended.tokens_out, ended.cost_microusd) == (20, 70)

    def test_partial_replies_of_many_sessions_are_stored_separately(self, store: Store, run: Run) -> None:
        sessions = [an_active_session(store, run, place=place, key=digest(f"{place}")) for place in range(3)]
        turns = [store.events.dialogues.add_turn(session.key, "Hello?", now=NOW).key for session in sessions]
        store.events.dialogues.save_partials({turn: f"Words {number}" for number, turn in enumerate(turns)})
        store.events.dialogues.save_partials({})

        held = [store.events.dialogues.of_session(session.key)[0].turns[0].response for session in sessions]
        assert held == ["Words 0", "Words 1", "Words 2"]

    def test_a_reply_can_be_completed_only_once(self, store: Store, run: Run) -> None:
        turn = store.events.dialogues.add_turn(an_active_session(store, run).key, "Hello?", now=NOW)
        store.events.dialogues.end_turn(turn.key, ENDED)

        with pytest.raises(Conflict):
            store.events.dialogues.end_turn(turn.key, BROKEN)

    def test_the_html_of_a_reply_is_stored_beside_its_text(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        html = replace(ENDED, reply=HTML)
        dialogues = store.events.dialogues
        ended = dialogues.end_turn(dialogues.add_turn(session.key, "Hello?", now=NOW).key, html)
        plain = dialogues.end_turn(dialogues.add_turn(session.key, "Hello?", now=NOW).key, ENDED)

        assert (ended.response, ended.original, plain.original) == ("Yes.", "<p>Yes.</p>", "")
        assert dialogues.of_session(session.key)[0].turns == (ended, plain)

    def test_an_error_can_be_retried_and_a_reply_cannot(self, store: Store, run: Run) -> None:
        turn = store.events.dialogues.add_turn(an_active_session(store, run).key, "Hello?", now=NOW)
        store.events.dialogues.end_turn(turn.key, BROKEN)
        again = store.events.dialogues.retry_turn(turn.key, now=LATER)
        store.events.dialogues.end_turn(turn.key, ENDED)

        assert (again.state, again.tries, again.asked) == (None, 2, LATER)
        with pytest.raises(Conflict):
            store.events.dialogues.retry_turn(turn.key, now=LATER)

    def test_pending_replies_of_a_dead_process_are_interrupted(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        turn = store.events.dialogues.add_turn(session.key, "Hello?", now=NOW)
        store.events.dialogues.save_partials({turn.key: "Ye"})

        assert store.events.dialogues.interrupt_all() == 1

        (kept,) = store.events.dialogues.of_session(session.key)[0].turns
        assert (kept.prompt, kept.response, kept.state) == ("Hello?", "Ye", TurnState.INTERRUPTED)

    def test_a_mark_can_be_set_and_removed(self, store: Store, run: Run) -> None:
        turn = store.events.dialogues.add_turn(an_active_session(store, run).key, "Hello?", now=NOW)

        assert store.events.dialogues.mark_turn(turn.key, broke=True).broke
        assert not store.events.dialogues.mark_turn(turn.key, broke=False).broke

    def test_strategies_are_stored_as_a_whole(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        turn = store.events.dialogues.add_turn(session.key, "Hello?", now=NOW)
        (dialogue,) = store.events.dialogues.of_session(session.key)
        tried = Attempt(description="my gran", outcome=AttemptOutcome.RELEASED, turn=1)
        refined = replace(tried, description="both grans", refines=1)
        strategies = (
            Strategy(name="role_play", dialogue=dialogue.key, attempts=(tried, refined)),
            Strategy(name="own words", dialogue=dialogue.key),
        )
        store.events.dialogues.set_strategies(dialogue.key, strategies[:1])
        store.events.dialogues.set_strategies(dialogue.key, strategies)

        assert store.events.dialogues.of_turn(turn.key).strategies == strategies
        assert [one.strategies for one in store.events.dialogues.summaries("support")] == [strategies]

    def test_costs_of_replies_are_summed(self, store: Store, run: Run) -> None:
        turn = store.events.dialogues.add_turn(an_active_session(store, run).key, "Hello?", now=NOW)
        store.events.dialogues.end_turn(turn.key, ENDED)

        spent = store.events.dialogues.spending("support")

        assert (spent.calls, spent.tokens_in, spent.tokens_out, spent.cost_microusd) == (1, 100, 20, 70)

    def test_unreported_tokens_have_an_unknown_cost_and_not_zero(self, store: Store, run: Run) -> None:
        untold = replace(ENDED, reply=replace(a_reply(), tokens_in=0, tokens_out=0, cost_microusd=None))
        session = an_active_session(store, run)
        for ending in (untold, BROKEN):
            store.events.dialogues.end_turn(store.events.dialogues.add_turn(session.key, "Hello?", now=NOW).key, ending)

        assert store.events.dialogues.spending("support", {session.application}).unpriced_calls == 1
        assert store.events.dialogues.spending("support", {"another"}).unpriced_calls == 0

    def test_turns_are_counted_by_session(self, store: Store, run: Run) -> None:
        first, second = (an_active_session(store, run, participant=who, key=digest(who)) for who in ("p1", "p2"))
        an_active_session(store, run, participant="p3", key=digest("p3"))
        for session in (first, first, second):
            ended = store.events.dialogues.end_turn(
                store.events.dialogues.add_turn(session.key, "Hello?", now=NOW).key, ENDED
            )
        store.events.dialogues.mark_turn(ended.key, broke=True)

        assert store.events.dialogues.turn_counts("support") == {first.key: (2, 0), second.key: (1, 1)}
        assert store.events.dialogues.turn_counts("another") == {}


class TestPersons:
    def test_consents_are_read_back_with_their_time(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        consent = Acknowledgement(
            participant="p1", study="support", subject=AcknowledgedText.CONSENT, version=digest("text"), at=NOW
        )
        read = replace(consent, subject=AcknowledgedText.INSTRUCTIONS, session=session.key, at=LATER)
        store.events.participants.add_acknowledgement(consent)
        store.events.participants.add_acknowledgement(read)

        assert store.events.participants.acknowledgements("p1") == [consent, read]
        assert store.events.participants.acknowledgements("p2") == []

    def test_the_latest_profile_counts(self, store: Store) -> None:
        profile = PersonProfile(
            user_type=UserType.DOMAIN_EXPERT,
            expertise="nurse",
            languages=("de", "en"),
            groups={"age": "60-69"},
        )
        assert store.profile("p1") is None
        assert store.add_profile("p1", PersonProfile(), now=NOW) == 1
        assert store.profile("p1").user_type is None
        assert store.add_profile("p1", profile, now=NOW) == 2

        assert store.profile("p1") == profile

    def test_each_guess_is_made_once_per_session(self, store: Store, run: Run) -> None:
        guess = BlindingGuess(
            session=an_active_session(store, run).key,
            about=GuessedThing.APPLICATION,
            guess="",
            options=("bot", "green"),
            at=NOW,
        )
        store.events.responses.add_guess(guess)
        store.events.responses.add_guess(replace(guess, about=GuessedThing.LEVEL, guess="red teaming"))

        with pytest.raises(Conflict):
            store.events.responses.add_guess(replace(guess, guess="bot"))
        assert [known.guess for known in store.events.responses.guesses("support")] == ["", "red teaming"]


class TestResponses:
    def test_the_latest_revision_is_read_back_with_the_facts_of_the_session(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        store.add_profile("p1", PersonProfile(user_type=UserType.EVERYDAY, groups={"age": "60-69"}), now=NOW)
        store.events.responses.add(a_response(session.key, answers=ANSWERS[:0]))
        store.events.responses.add(a_response(session.key, revision=2, submitted=True))

        (response,) = store.events.responses.in_study(run.study)

        assert response.revision == 2
        assert [answer.value for answer in response.answers] == ["8", None]
        assert (response.application, response.scenario, response.level) == ("bot", "returns", Level.RED_TEAMING)
        assert response.groups == {"user_type": "everyday", "age": "60-69"}
        assert (
            store.events.responses.of_session(session.key) == store.events.responses.in_study("support") == [response]
        )

    def test_a_submitted_response_cannot_be_revised(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        store.events.responses.add(a_response(session.key, submitted=True))

        with pytest.raises(Conflict):
            store.events.responses.add(a_response(session.key, revision=2))

    def test_a_revision_is_stored_once(self, store: Store, run: Run) -> None:
        session = an_active_session(store, run)
        store.events.responses.add(a_response(session.key))

        with pytest.raises(Conflict):
            store.events.responses.add(a_response(session.key))


def a_response(session: str, **changes: object) -> QuestionnaireResponse:
    known: dict[str, object] = {
        "session": session,
        "participant": "p1",
        "questionnaire": "after",
        "instrument_version": digest("after"),
        "answers": (replace(ANSWERS[0], value="8", evidence=()), ANSWERS[2]),
    }
    return QuestionnaireResponse(**(known | changes))  # type: ignore[arg-type]


def test_a_failed_session_leaves_a_dialogue_without_a_unit(store: Store, run: Run) -> None:
    session = an_active_session(store, run)
    turn = store.events.dialogues.add_turn(session.key, "Hello?", now=NOW)
    store.events.dialogues.end_turn(turn.key, BROKEN)
    (dialogue,) = store.events.dialogues.of_session(session.key)
    store.events.dialogues.end(run, dialogue.key, Ending.TESTER_LEFT, None, now=LATER)
    store.events.sessions.update(session.key, lambda known: known.over(SessionState.FAILED, LATER))

    (held,) = store.events.dialogues.summaries("support")
    assert (held.unit, held.kind, held.ending) == ("", FailureKind.TIMED_OUT, Ending.TESTER_LEFT)
    assert held.session.state is SessionState.FAILED


async def an_annotated_dialogue(store: Store, run: Run) -> Unit:
    """One dialogue of p1 with a judge's annotation, a label by hand and a response."""
    session = an_active_session(store, run)
    turn = store.events.dialogues.add_turn(session.key, "I am Ana", now=NOW)
    store.events.dialogues.end_turn(turn.key, replace(ENDED, reply=HTML))
    (live,) = store.events.dialogues.of_session(session.key)
    unit, judged = a_session(run, 3), an_annotation_unit(run, a_session(run, 3))
    dialogue = a_dialogue(unit, held_by=TesterType.PERSON, cluster="p1", turns=turns_of(live))
    store.events.dialogues.end(run, live.key, Ending.TESTER_LEFT, (unit, dialogue), now=LATER)
    store.add_units(run, [judged])
    await store.keep_annotation(judged, an_annotation(judged, unit.key, answers=ANSWERS[:2]))
    by_anna = {"annotator": "anna", "annotator_version": digest("anna"), "answers": ANSWERS[:1]}
    store.keep_labels([an_annotation(replace(judged, key=""), unit.key, **by_anna)])
    store.events.responses.add(a_response(session.key, submitted=True))
    return unit


async def test_an_ended_dialogue_is_one_of_the_run(store: Store, run: Run) -> None:
    unit = await an_annotated_dialogue(store, run)

    (dialogue,) = store.dialogues(run)
    (held,) = store.events.dialogues.summaries("support")
    assert (dialogue.key, dialogue.turns[0].prompt, dialogue.turns[0].response) == (unit.key, "I am Ana", "Yes.")
    assert (held.unit, held.turns, held.pair_key) == (unit.key, 1, dialogue.pair_key)
    assert (store.events.dialogues.dialogue_counts("support"), store.events.dialogues.dialogue_counts("other")) == (
        {held.session.key: 1},
        {},
    )
    assert held.session.language == "de"
    assert store.events.responses.in_study(run.study)[0].dialogues == (unit.key,)
    with pytest.raises(Conflict):
        store.events.dialogues.end(run, held.key, Ending.TESTER_LEFT, None, now=LATER)


async def test_removing_a_dialogue_removes_its_annotations(store: Store, run: Run) -> None:
    await an_annotated_dialogue(store, run)

    left = store.events.withdrawals.withdraw("support", "p1", Withdrawal.REMOVE, now=LATER)

    assert (left.sessions, left.dialogues, left.answers) == (1, 1, 5)
    assert store.events.withdrawals.tombstones("support") == [left]
    assert [
        *store.dialogues(run),
        *store.annotations(run),
        *store.labels(run),
        *store.events.responses.in_study(run.study),
    ] == []
    assert store.count_units(run, UnitKind.SESSION)["withdrawn"] == 1
    assert [one.session.state for one in store.events.dialogues.summaries("support")] == [SessionState.WITHDRAWN]
    assert store.events.dialogues.of_session(store.events.sessions.in_study("support")[0].key)[0].turns == ()
    assert store.events.sessions.of_participant("p1") == []


async def test_anonymised_data_have_an_unknown_key(store: Store, run: Run) -> None:
    await an_annotated_dialogue(store, run)
    store.add_profile("p1", PersonProfile(expertise="nurse"), now=NOW)

    def mask(text: str) -> str:
        return text.replace("Ana", "•••").replace("Yes", "•••")

    left = store.events.withdrawals.withdraw("support", "p1", Withdrawal.ANONYMISE, now=LATER, mask=mask)

    (dialogue,) = store.dialogues(run)
    (session,) = store.events.sessions.in_study("support")
    (live,) = store.events.dialogues.of_session(session.key)
    assert (dialogue.turns[0].prompt, dialogue.turns[0].response) == ("I am •••", "•••.")
    assert [turn.original for turn in live.turns] == ["<p>•••.</p>"]
    assert (left.kind, len(list(store.labels(run))), len(store.events.responses.in_study(run.study))) == (
        Withdrawal.ANONYMISE,
        1,
        1,
    )
    assert store.events.sessions.of_participant("p1") == []
    assert store.profile("p1") is None
    assert [one.language for one in store.events.sessions.in_study("support")] == [""]


class TestBrought:
    def test_imported_dialogues_are_stored_with_their_unit_and_without_session(self, store: Store, run: Run) -> None:
        store.events.dialogues.add_imported(run, [a_brought(run, "b1", 0), a_brought(run, "b2", 1)], now=NOW)

        held = store.events.dialogues.summaries("support")
        assert store.events.dialogues.dialogue_counts("support") == {}
        assert [(one.ordinal, one.held_by, one.session.brought) for one in held] == [
            (0, TesterType.RECORDED, True),
            (1, TesterType.RECORDED, True),
        ]
        assert [one.key for one in store.dialogues(run)] == [one.unit for one in held]
        assert store.events.sessions.in_study("support") == []

    def test_concurrent_requests_get_different_numbers(self, store: Store, run: Run) -> None:
        store.events.dialogues.add_imported(run, [a_brought(run, "b1", 0)], now=NOW)

        with pytest.raises(Conflict):
            store.events.dialogues.add_imported(run, [a_brought(run, "b2", 1), a_brought(run, "b3", 0)], now=NOW)
        assert len(store.events.dialogues.summaries("support")) == 1


def a_brought(run: Run, name: str, ordinal: int) -> BroughtResult:
    session = a_person_session(
        run, key=digest(name), participant=name, state=SessionState.COMPLETE, brought=True, stratum="brought in"
    )
    unit = Unit(
        key=digest(run.key, name),
        kind=UnitKind.SESSION,
        work_key=digest("brought", name),
        position=ordinal,
        label=name,
        application=session.application,
    )
    held = LiveDialogueSummary(
        key=digest("held", name),
        session=session,
        number=1,
        ordinal=ordinal,
        ending=Ending.SCRIPT_END,
        unit=unit.key,
        held_by=TesterType.RECORDED,
    )
    return BroughtResult(held=held, unit=unit, dialogue=replace(a_dialogue(unit), held_by=TesterType.RECORDED))
