"""What people do in an event, kept in memory and held to the contract of the real store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from theodolite.domain.brought import BroughtResult
from theodolite.domain.codings.coding import Coding, CodingResolution, OpenAnswer, QuoteRelease
from theodolite.domain.dialogue import Dialogue, Ending, HeldBy, Level, TurnState
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.identity import digest
from theodolite.domain.live import HeldDialogue, LiveDialogue, LiveEnding, LiveTurn
from theodolite.domain.people.blinding import BlindingGuess
from theodolite.domain.people.consent import AcknowledgedText, Acknowledgement
from theodolite.domain.people.participant import PersonProfile
from theodolite.domain.people.seat import Seat
from theodolite.domain.people.session import Session, SessionState
from theodolite.domain.people.withdrawal import Tombstone, Withdrawal
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.run import Run, Spending, Unit, UnitState
from theodolite.domain.strategy import Strategy


@dataclass
class FakeEvent:
    """The rows of everything that people do."""

    taken: list[tuple[str, Seat]] = field(default_factory=list)
    sessions: dict[str, Session] = field(default_factory=dict)
    dialogues: dict[str, LiveDialogue] = field(default_factory=dict)
    agreed: list[Acknowledgement] = field(default_factory=list)
    profiles: dict[str, list[PersonProfile]] = field(default_factory=dict)
    avoided: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    responses: list[QuestionnaireResponse] = field(default_factory=list)
    guesses: dict[tuple[str, str], BlindingGuess] = field(default_factory=dict)
    tombstones: list[Tombstone] = field(default_factory=list)
    codings: list[Coding] = field(default_factory=list)
    coding_slots: dict[tuple[OpenAnswer, str, int], int] = field(default_factory=dict)
    coding_resolutions: list[CodingResolution] = field(default_factory=list)
    releases: list[QuoteRelease] = field(default_factory=list)
    n_keys: int = 0

    def key(self) -> str:
        self.n_keys += 1
        return digest("fake key", str(self.n_keys))


class FakePeople:
    """The part of `FakeStore` that people meet."""

    event: FakeEvent
    files: dict[str, list[str]]
    contents: dict[str, Any]

    def take_seat(
        self,
        study: str,
        participant: str,
        level: Level,
        stratum: str = "",
        *,
        most: int | None = None,
        choose: Callable[[Collection[int]], int | None] | None = None,
    ) -> Seat:
        mine = [seat for _, seat in self._seats(study) if seat.level is level]
        for seat in mine:
            if seat.participant == participant:
                return seat
        numbers = {seat.number for seat in mine if seat.stratum == stratum}
        if most is not None and len(numbers) >= most:
            raise Conflict(stratum)
        lowest = next(number for number in range(len(numbers) + 1) if number not in numbers)
        number = choose(numbers) if choose else lowest
        if number is None:
            raise Conflict(stratum)
        seat = Seat(level=level, number=number, stratum=stratum, participant=participant)
        self.event.taken.append((study, seat))
        return seat

    def free_seat(self, study: str, participant: str, level: Level) -> None:
        kept = [one for one in self.event.taken if not (one[0] == study and _sits(one[1], participant, level))]
        self.event.taken = kept

    def give_up_seat(self, study: str, participant: str, level: Level) -> bool:
        mine = [one for one in self.sessions(study) if one.participant == participant and one.level is level]
        if any(one.state is not SessionState.WAITING for one in mine):
            return False
        for one in mine:
            del self.event.sessions[one.key]
        self.free_seat(study, participant, level)
        return True

    def seats(self, study: str) -> list[Seat]:
        found = [seat for _, seat in self._seats(study)]
        return sorted(found, key=lambda seat: (seat.level.value, seat.stratum, seat.number))

    def _seats(self, study: str) -> list[tuple[str, Seat]]:
        return [one for one in self.event.taken if one[0] == study]

    def keep_session(self, session: Session) -> None:
        if all(run.key != session.run for run in self.runs_kept):  # type: ignore[attr-defined]
            raise NotFound(session.run)
        if any(_place(known) == _place(session) for known in self.event.sessions.values()):
            raise Conflict(session.key)
        self.event.sessions[session.key] = session

    def session(self, key: str) -> Session:
        return _found(self.event.sessions, key)

    def sessions(self, study: str) -> list[Session]:
        return [one for one in self.event.sessions.values() if one.study == study and not one.brought]

    def sessions_of(self, participant: str) -> list[Session]:
        return [session for session in self.event.sessions.values() if session.participant == participant]

    def revise_session(self, key: str, change: Callable[[Session], Session]) -> Session:
        revised = change(self.session(key))
        self.event.sessions[key] = revised
        return revised

    def say(self, session: str, prompt: str, *, now: datetime) -> LiveTurn:
        if self.session(session).state is not SessionState.ACTIVE:
            raise Conflict(session)
        open_ones = [one for one in self.live_dialogues(session) if one.is_open]
        dialogue = open_ones[0] if open_ones else self._begin(session)
        if dialogue.under_way is not None:
            raise Conflict(dialogue.key)
        turn = LiveTurn(key=self.event.key(), number=len(dialogue.turns) + 1, prompt=prompt, asked=now)
        self.event.dialogues[dialogue.key] = replace(dialogue, turns=(*dialogue.turns, turn))
        return turn

    def _begin(self, session: str) -> LiveDialogue:
        study = self.session(session).study
        ordinal = sum(self.session(one.session).study == study for one in self.event.dialogues.values())
        number = len(self.live_dialogues(session)) + 1
        dialogue = LiveDialogue(key=self.event.key(), session=session, number=number, ordinal=ordinal)
        self.event.dialogues[dialogue.key] = dialogue
        return dialogue

    def retry(self, turn: str, *, now: datetime) -> LiveTurn:
        dialogue = self.dialogue_of_turn(turn)
        last = dialogue.turns[-1]
        if last.key != turn or last.state is not TurnState.ERROR or not dialogue.is_open:
            raise Conflict(turn)
        return self._put(replace(last, state=None, response="", tries=last.tries + 1, asked=now))

    def hold(self, texts: Mapping[str, str]) -> None:
        for key, text in texts.items():
            turn = self._turn(key)
            if turn.is_under_way:
                self._put(replace(turn, response=text))

    def end_turn(self, turn: str, ending: LiveEnding, claims: Sequence[str] = ()) -> LiveTurn:
        known = self._turn(turn)
        if not known.is_under_way:
            raise Conflict(turn)
        reply = ending.reply
        costs = [cost for cost in (known.cost_microusd, reply.cost_microusd if reply else None) if cost is not None]
        return self._put(
            replace(
                known,
                state=ending.state,
                response=ending.text,
                claims=tuple(claims),
                latency_s=ending.latency_s,
                waited_s=ending.waited_s,
                kind=ending.kind,
                cause=ending.cause,
                tokens_in=known.tokens_in + (reply.tokens_in if reply else 0),
                tokens_out=known.tokens_out + (reply.tokens_out if reply else 0),
                cost_microusd=sum(costs) if costs else None,
            )
        )

    def mark_turn(self, turn: str, *, broke: bool) -> LiveTurn:
        return self._put(replace(self._turn(turn), broke=broke))

    def interrupt_all(self) -> int:
        under_way = [one.under_way for one in self.event.dialogues.values() if one.under_way is not None]
        for turn in under_way:
            self._put(replace(turn, state=TurnState.INTERRUPTED))
        return len(under_way)

    def live_dialogues(self, session: str) -> tuple[LiveDialogue, ...]:
        return tuple(one for one in self.event.dialogues.values() if one.session == session)

    def live_dialogue(self, key: str) -> LiveDialogue:
        return _found(self.event.dialogues, key)

    def dialogue_of_turn(self, turn: str) -> LiveDialogue:
        for dialogue in self.event.dialogues.values():
            if any(one.key == turn for one in dialogue.turns):
                return dialogue
        raise NotFound(turn)

    def _turn(self, key: str) -> LiveTurn:
        return next(turn for turn in self.dialogue_of_turn(key).turns if turn.key == key)

    def _put(self, turn: LiveTurn) -> LiveTurn:
        dialogue = self.dialogue_of_turn(turn.key)
        turns = tuple(turn if known.key == turn.key else known for known in dialogue.turns)
        self.event.dialogues[dialogue.key] = replace(dialogue, turns=turns)
        return turn

    def keep_strategies(self, dialogue: str, strategies: Sequence[Strategy]) -> None:
        self.event.dialogues[dialogue] = replace(self.live_dialogue(dialogue), strategies=tuple(strategies))

    def end_dialogue(
        self, run: Run, key: str, ending: Ending, result: tuple[Unit, Dialogue] | None, *, now: datetime
    ) -> None:
        dialogue = self.live_dialogue(key)
        if not dialogue.is_open:
            raise Conflict(key)
        if dialogue.under_way is not None:
            self._put(replace(dialogue.under_way, state=TurnState.INTERRUPTED))
        unit = result[0].key if result else ""
        self.event.dialogues[key] = replace(self.live_dialogue(key), ending=ending, unit=unit)
        if result:
            self.add_units(run, [result[0]])  # type: ignore[attr-defined]
            self._finish(result[0], UnitState.DONE)  # type: ignore[attr-defined]
            self.kept_dialogues[unit] = result[1]  # type: ignore[attr-defined]

    def bring(self, run: Run, results: Sequence[BroughtResult], *, now: datetime) -> None:
        taken = {known.ordinal for known in self.held(run.study)}
        if any(one.held.ordinal in taken for one in results):
            raise Conflict(run.study)
        for one in results:
            held = one.held
            self.keep_session(held.session)
            live = LiveDialogue(
                key=held.key,
                session=held.session.key,
                number=held.number,
                ordinal=held.ordinal,
                ending=held.ending,
                unit=one.unit.key,
            )
            self.event.dialogues[held.key] = live
            self.add_units(run, [one.unit])  # type: ignore[attr-defined]
            self._finish(one.unit, UnitState.DONE)  # type: ignore[attr-defined]
            self.kept_dialogues[one.unit.key] = one.dialogue  # type: ignore[attr-defined]

    def held(self, study: str) -> list[HeldDialogue]:
        found = [one for one in self.event.dialogues.values() if self.session(one.session).study == study]
        return [self._held(dialogue) for dialogue in sorted(found, key=lambda one: one.ordinal)]

    def _held(self, dialogue: LiveDialogue) -> HeldDialogue:
        session = self.session(dialogue.session)
        profile = self.profile(session.participant)
        return HeldDialogue(
            key=dialogue.key,
            session=session,
            number=dialogue.number,
            ordinal=dialogue.ordinal,
            ending=dialogue.ending,
            unit=dialogue.unit,
            turns=len(dialogue.turns),
            pair_key=self.kept_dialogues[dialogue.unit].pair_key if dialogue.unit else "",  # type: ignore[attr-defined]
            held_by=self.kept_dialogues[dialogue.unit].held_by if dialogue.unit else HeldBy.PERSON,  # type: ignore[attr-defined]
            kind=next((turn.kind for turn in reversed(dialogue.turns) if turn.kind), None),
            groups=profile.attributes if profile else {},
            strategies=dialogue.strategies,
        )

    def turn_counts(self, study: str) -> dict[str, tuple[int, int]]:
        ours = [one for one in self.event.dialogues.values() if self.session(one.session).study == study]
        said = [(one.session, turn.broke) for one in ours for turn in one.turns]
        return {key: (sum(k == key for k, _ in said), sum(b for k, b in said if k == key)) for key, _ in said}

    def dialogue_counts(self, study: str) -> dict[str, int]:
        kept = [one.session for one in self.event.dialogues.values() if one.unit]
        here = {key for key in kept if (known := self.session(key)).study == study and not known.brought}
        return {key: kept.count(key) for key in here}

    def live_spending(self, study: str, models: Collection[str] = ()) -> Spending:
        ours = [one for one in self.event.dialogues.values() if self.session(one.session).study == study]
        turns = [turn for dialogue in ours for turn in dialogue.turns]
        of_models = [one for one in ours if self.session(one.session).application in models]
        ended = {TurnState.COMPLETE, TurnState.INTERRUPTED}
        untold = [turn.key for one in of_models for turn in one.turns if turn.state in ended]
        return Spending(
            calls=len(turns),
            attempts=sum(turn.tries for turn in turns),
            tokens_in=sum(turn.tokens_in for turn in turns),
            tokens_out=sum(turn.tokens_out for turn in turns),
            cost_microusd=sum(turn.cost_microusd or 0 for turn in turns),
            unpriced_calls=sum(
                turn.cost_microusd is None and (turn.tokens_out > 0 or turn.key in untold) for turn in turns
            ),
        )

    def acknowledge(self, given: Acknowledgement) -> None:
        if given.session:
            self.session(given.session)
        self.event.agreed.append(given)

    def acknowledgements(self, participant: str) -> list[Acknowledgement]:
        return [given for given in self.event.agreed if given.participant == participant]

    def keep_avoided(self, study: str, participant: str, topics: Collection[str]) -> None:
        self.event.avoided[study, participant] = frozenset(topics)

    def avoided_by(self, study: str, participant: str) -> frozenset[str]:
        return self.event.avoided.get((study, participant), frozenset())

    def avoided_topics(self, study: str) -> dict[str, frozenset[str]]:
        subject = AcknowledgedText.TOPICS
        asked = {one.participant for one in self.event.agreed if one.study == study and one.subject is subject}
        said = {key: topics for (where, key), topics in self.event.avoided.items() if where == study and topics}
        return {key: frozenset() for key in asked} | said

    def keep_profile(self, participant: str, profile: PersonProfile, *, now: datetime) -> int:
        revisions = self.event.profiles.setdefault(participant, [])
        revisions.append(profile)
        return len(revisions)

    def profile(self, participant: str) -> PersonProfile | None:
        revisions = self.event.profiles.get(participant)
        return revisions[-1] if revisions else None

    def keep_response(self, given: QuestionnaireResponse) -> None:
        session = self.session(given.session)
        mine = [one for one in self.event.responses if _about(one) == _about(given)]
        over = any(one.submitted for one in mine) or session.state is SessionState.WITHDRAWN
        if over or any(one.revision == given.revision for one in mine):
            raise Conflict(given.session)
        self.event.responses.append(given)

    def responses(self, run: Run) -> list[QuestionnaireResponse]:
        return self._responses(lambda session: session.run == run.key)

    def responses_to(self, session: str) -> list[QuestionnaireResponse]:
        return self._responses(lambda one: one.key == session)

    def study_responses(self, study: str) -> list[QuestionnaireResponse]:
        return self._responses(lambda session: session.study == study)

    def _responses(self, wanted: Callable[[Session], bool]) -> list[QuestionnaireResponse]:
        latest: dict[tuple[str, str], QuestionnaireResponse] = {}
        for one in sorted(self.event.responses, key=lambda one: one.revision):
            latest[_about(one)] = one
        ours = [one for one in latest.values() if wanted(self.session(one.session))]
        order = list(self.event.sessions)
        return [self._filled(one) for one in sorted(ours, key=lambda one: order.index(one.session))]

    def _filled(self, given: QuestionnaireResponse) -> QuestionnaireResponse:
        session = self.session(given.session)
        profile = self.profile(session.participant)
        return replace(
            given,
            participant=session.participant,
            application=session.application,
            scenario=session.scenario,
            level=session.level,
            dialogues=tuple(one.unit for one in self.live_dialogues(session.key) if one.unit),
            groups=profile.attributes if profile else {},
        )

    def keep_guess(self, given: BlindingGuess) -> None:
        self.session(given.session)
        if (given.session, given.about) in self.event.guesses:
            raise Conflict(given.session)
        self.event.guesses[given.session, given.about] = given

    def guesses(self, study: str) -> list[BlindingGuess]:
        return [guess for guess in self.event.guesses.values() if self.session(guess.session).study == study]

    def withdraw(
        self,
        study: str,
        participant: str,
        kind: Withdrawal,
        *,
        now: datetime,
        mask: Callable[[str], str] = str,
    ) -> Tombstone:
        mine = [one for one in self.sessions_of(participant) if one.study == study]
        dialogues = [one for session in mine for one in self.live_dialogues(session.key)]
        answers = [one for one in self.event.responses if one.session in {session.key for session in mine}]
        if kind is Withdrawal.REMOVE:
            n_answers = sum(len(one.answers) for one in answers) + self._forget(dialogues)
            self.event.responses = [one for one in self.event.responses if one not in answers]
            self._forget_reviews({session.key for session in mine})
            self.event.guesses = {k: v for k, v in self.event.guesses.items() if k[0] not in {s.key for s in mine}}
        else:
            n_answers = sum(len(one.answers) for one in answers)
            self._mask(dialogues, mask)
            self._mask_notes({session.key for session in mine}, mask)
        nobody = self.event.key()
        self.event.avoided.pop((study, participant), None)
        for session in mine:
            state = SessionState.WITHDRAWN if kind is Withdrawal.REMOVE else session.state
            self.event.sessions[session.key] = replace(session, participant=nobody, state=state, language="")
        self.event.taken = [one for one in self.event.taken if one[1].participant != participant]
        self.event.profiles.pop(participant, None)
        left = Tombstone(
            study=study, kind=kind, at=now, sessions=len(mine), dialogues=len(dialogues), answers=n_answers
        )
        self.event.tombstones.append(left)
        return left

    def _forget_reviews(self, sessions: set[str]) -> None:
        for versions in self.files.values():
            kept = [one for one in versions if getattr(self.contents[one], "session", "") not in sessions]
            versions[:] = kept

    def _forget(self, dialogues: Sequence[LiveDialogue]) -> int:
        n_answers = 0
        for dialogue in dialogues:
            ending = dialogue.ending or Ending.TESTER_LEFT
            self.event.dialogues[dialogue.key] = replace(dialogue, turns=(), strategies=(), ending=ending)
            n_answers += self._withdraw_unit(dialogue.unit) if dialogue.unit else 0
        return n_answers

    def _withdraw_unit(self, unit: str) -> int:
        units = self.units  # type: ignore[attr-defined]
        sessions = {key for key, kept in units.items() if kept.origin == unit}
        labels = [one for one in self.kept_labels if one.dialogue in sessions]  # type: ignore[attr-defined]
        self.kept_labels = [one for one in self.kept_labels if one not in labels]  # type: ignore[attr-defined]
        n_answers = sum(len(one.answers) for one in labels)
        for key, kept in units.items():
            if key in sessions or kept.unit.subject in sessions:
                kept.unit = replace(kept.unit, state=UnitState.WITHDRAWN)
                for annotation in self.kept_annotations.pop(key, []):  # type: ignore[attr-defined]
                    n_answers += len(annotation.answers)
        return n_answers

    def _mask(self, dialogues: Sequence[LiveDialogue], mask: Callable[[str], str]) -> None:
        for dialogue in dialogues:
            turns = tuple(
                replace(turn, prompt=mask(turn.prompt), response=mask(turn.response)) for turn in dialogue.turns
            )
            self.event.dialogues[dialogue.key] = replace(dialogue, turns=turns)
            kept = self.kept_dialogues.get(dialogue.unit)  # type: ignore[attr-defined]
            if kept is not None:
                said = tuple(
                    replace(turn, prompt=mask(turn.prompt), response=mask(turn.response)) for turn in kept.turns
                )
                self.kept_dialogues[dialogue.unit] = replace(kept, turns=said)  # type: ignore[attr-defined]

    def _mask_notes(self, sessions: set[str], mask: Callable[[str], str]) -> None:
        self.event.codings = [
            replace(one, memo=mask(one.memo)) if one.answer.session in sessions else one for one in self.event.codings
        ]
        self.event.coding_resolutions = [
            replace(one, rationale=mask(one.rationale)) if one.answer.session in sessions else one
            for one in self.event.coding_resolutions
        ]

    def tombstones(self, study: str) -> list[Tombstone]:
        return [one for one in self.event.tombstones if one.study == study]


def _place(session: Session) -> tuple[str, str, Level, int]:
    return session.study, session.participant, session.level, session.place


def _about(response: QuestionnaireResponse) -> tuple[str, str]:
    return response.session, response.questionnaire


def _sits(seat: Seat, participant: str, level: Level) -> bool:
    return seat.participant == participant and seat.level is level


def _found(rows: Mapping[str, object], key: str):  # type: ignore[no-untyped-def]
    if key not in rows:
        raise NotFound(key)
    return rows[key]
