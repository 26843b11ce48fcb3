"""Registering: dialogues, annotations and failures become a register, one at a time."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

from theodolite.domain.annotation import Adjudication, Annotation, Answer, Control, Outcome
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.failure import Failure
from theodolite.domain.flow import FILTERED_TEXT
from theodolite.domain.plan import Sessions
from theodolite.domain.register import Failed, Holding, Mark, Register, Said, Tried

Key = tuple[str, str, str]

T = TypeVar("T")


def register_of(
    sessions: Sessions,
    dialogues: Iterable[Dialogue] = (),
    annotations: Iterable[Annotation] = (),
    adjudications: Iterable[Adjudication] = (),
    failures: Iterable[Failure] = (),
) -> Register:
    """Return the register of records that are read once, each kind in any order.

    Args:
        sessions: The planned sessions.
        dialogues: What was said, under the labels of the plan.
        annotations: What annotators answered, latest revisions.
        adjudications: Final labels.
        failures: Units that brought nothing, under the labels of the plan.
    """
    book = RegisterBook(sessions)
    for dialogue in dialogues:
        book.enter_dialogue(dialogue)
    for annotation in annotations:
        book.enter_annotation(annotation)
    for final in adjudications:
        book.enter_final(final)
    for failure in failures:
        book.enter_failure(failure)
    return book.register()


class RegisterBook:
    """A register that is being written. Dialogues are entered before what is said about them."""

    def __init__(self, sessions: Sessions) -> None:
        """Open a book in which nothing is entered yet."""
        self._sessions = sessions
        n = self._n = len(sessions)  # what makes columns knows the number and not the book, which is freed at once
        self._known: dict[object, object] = {}
        self._places: dict[str, int] = {}
        self._held: list[Holding | None] = [None] * self._n
        self._columns: dict[Key, list[tuple[Said, ...] | None]] = defaultdict(lambda: [None] * n)
        self._annotated: dict[str, bytearray] = defaultdict(lambda: bytearray(n))
        self._finals: dict[tuple[str, str], list[Said | None]] = defaultdict(lambda: [None] * n)
        self._failures: dict[int, tuple[Failed, ...]] = {}
        self._backing = bytearray(self._n)
        self._letters = array("L", bytes(array("L").itemsize * self._n))
        self._unread: dict[Key, tuple[int, str]] = {}
        self._endpoints: dict[str, None] = {}
        self._judges: dict[str, None] = {}
        self._marks: dict[str, bytearray] = defaultdict(lambda: bytearray(n))
        self._votes: dict[Key, list[tuple[Said, ...] | None]] = defaultdict(lambda: [None] * n)
        self._names: dict[str, dict[str, None]] = defaultdict(dict)
        self._sat: dict[str, list[tuple[str, int] | None]] = defaultdict(lambda: [None] * n)

    def enter_dialogue(self, dialogue: Dialogue, place: int | None = None) -> None:
        """Enter a dialogue; one that is not of this plan is left out.

        Args:
            dialogue: What was said.
            place: Its position in the plan, where it is known.
        """
        found = self._sessions.find(dialogue.label) if place is None else place
        if found is None:
            return
        self._places[dialogue.key] = found
        self._held[found] = self._one(_holding(dialogue))
        self._letters[found] += sum(len(turn.prompt) + len(turn.response) for turn in dialogue.turns)
        self._letters[found] += len(dialogue.persona.text) if dialogue.persona else 0
        self._endpoints.update(dict.fromkeys(dialogue.scripted))

    def enter_annotation(self, annotation: Annotation) -> None:
        """Enter what an annotator answered."""
        place = self._places.get(annotation.dialogue)
        if place is None:
            return
        self._annotated[annotation.annotator][place] = 1
        if annotation.scripted:
            self._judges[annotation.annotator] = None
        said: dict[str, tuple[Said, ...]] = {}
        for answer in annotation.answers:
            said[answer.question] = (*said.get(answer.question, ()), _said(answer))
            self._note(place, annotation, answer)
        for question, one in said.items():
            self._columns[annotation.annotator, annotation.guideline, question][place] = self._one(one)
        self._enter_conduct(place, annotation)

    def _enter_conduct(self, place: int, annotation: Annotation) -> None:
        if annotation.sitting:
            self._sat[annotation.annotator][place] = annotation.shown.text, annotation.sitting
        self._marks[annotation.annotator][place] = _marks(annotation)
        self._names[annotation.annotator].update(dict.fromkeys(annotation.answered_as.splitlines()))
        cast: dict[str, tuple[Said, ...]] = {}
        for answer in (answer for vote in annotation.votes for answer in vote.answers):
            cast[answer.question] = (*cast.get(answer.question, ()), _said(answer))
        for question, one in cast.items():
            self._votes[annotation.annotator, annotation.guideline, question][place] = self._one(one)

    def _note(self, place: int, annotation: Annotation, answer: Answer) -> None:
        backing = 2 * any(quote.verified for quote in answer.evidence) + bool(answer.reasoning)
        self._backing[place] |= backing
        quoted = sum(len(quote.text) for quote in answer.evidence)
        self._letters[place] += len(answer.reasoning) + len(answer.raw) + quoted
        if answer.outcome is Outcome.UNPARSEABLE:
            key = (annotation.annotator, annotation.guideline, answer.question)
            if key not in self._unread or place < self._unread[key][0]:
                self._unread[key] = place, answer.raw

    def enter_final(self, final: Adjudication) -> None:
        """Enter a final label."""
        place = self._places.get(final.dialogue)
        if place is not None:
            column = self._finals[final.guideline, final.question]
            column[place] = self._one(Said(outcome=final.outcome, value=final.value))

    def enter_failure(self, failure: Failure) -> None:
        """Enter what failed."""
        place = self._sessions.find(failure.label)
        if place is not None:
            failed = Failed(party=failure.party, kind=failure.kind, annotator=failure.annotator)
            self._failures[place] = self._one((*self._failures.get(place, ()), failed))

    def register(self) -> Register:
        """Return what was entered."""
        return Register(
            sessions=self._sessions,
            settings=[self._sessions.setting(place) for place in range(self._n)],
            held=self._held,
            columns=dict(self._columns),
            annotated=dict(self._annotated),
            finals=dict(self._finals),
            failures=dict(sorted(self._failures.items())),
            backing=self._backing,
            letters=self._letters,
            unread={key: raw for key, (_, raw) in self._unread.items()},
            scripted=(tuple(self._endpoints), tuple(self._judges)),
            marks=dict(self._marks),
            votes=dict(self._votes),
            names={annotator: tuple(names) for annotator, names in self._names.items()},
            sat=dict(self._sat),
        )

    def _one(self, entry: T) -> T:
        """Return the one object that stands for all entries that are equal to this one."""
        return self._known.setdefault(entry, entry)  # type: ignore[return-value]  # the key is of the value's type


def _holding(dialogue: Dialogue) -> Holding:
    return Holding(
        ending=dialogue.ending,
        turns=len(dialogue.turns),
        filtered=sum(turn.response == FILTERED_TEXT for turn in dialogue.turns),
        withheld=dialogue.withheld,
        tried=tuple(
            Tried(
                name=strategy.name,
                attempts=len(strategy.attempts),
                refinements=strategy.n_refinements,
                succeeded=strategy.succeeded,
            )
            for strategy in dialogue.strategies
        ),
    )


def _said(answer: Answer) -> Said:
    return Said(outcome=answer.outcome, value=answer.value, turn=answer.turn, replicate=answer.replicate)


def _marks(annotation: Annotation) -> Mark:
    quoting = any(answer.evidence for answer in annotation.answers)
    marks = Mark.QUOTING if quoting else Mark(0)
    if annotation.is_ungrounded:
        marks |= Mark.UNGROUNDED
    return marks | _CONTROLS.get(annotation.control, Mark(0))


_CONTROLS = {Control.PASSED: Mark.PASSED, Control.FAILED: Mark.FAILED, Control.UNANSWERED: Mark.UNANSWERED}
