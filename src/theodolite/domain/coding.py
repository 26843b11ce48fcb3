"""Coding: open answers of testers, which people assign to the codes of a codebook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.identity import digest, version_of
from theodolite.domain.instrument import Instrument, Question, Scale, ScaleKind
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.persona import Attempt, Strategy
from theodolite.domain.schema import Questionnaire, QuestionnaireResponse
from theodolite.domain.session import SessionState
from theodolite.domain.text import blocked

CODERS = 2
"""Number of coders of each answer, blind to each other; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A theme of answers.

    Attributes:
        name: Displayed name; unique in its codebook.
        definition: Meaning, in one or two sentences.
        include: When to assign it.
        exclude: When not to assign it, although it may seem to apply.
        example: Words with this code; invented, or released by their author.
    """

    name: str
    definition: str
    include: str = ""
    exclude: str = ""
    example: str = ""

    @property
    def meaning(self) -> tuple[str, str, str]:
        """The definition, which decides whether an answer has the code; an example only illustrates it."""
        return self.definition, self.include, self.exclude


@dataclass(frozen=True, slots=True, kw_only=True)
class Codebook:
    """The codes for some questions of a study; never changed, but replaced by a further revision.

    Attributes:
        study: Name of the study.
        codes: In the order shown to coders.
        revision: Number of the revision among those of its name, from 1.
        by: Opaque key of its author.
        note: Description of the change and its reason.
        name: Its name; empty for the default of questions without their own.
        covers: References of its questions, as in `OpenAnswer.place`; empty without a name.
    """

    study: str
    codes: tuple[Code, ...]
    revision: int = 1
    by: str = ""
    note: str = ""
    name: str = ""
    covers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Reject codes without a name or meaning, and duplicate names; lists all errors."""
        names = [code.name.casefold() for code in self.codes]
        problems = [f"`{code.name}` says not what it means" for code in self.codes if not code.definition.strip()]
        problems += ["a code has no name"] if "" in names else []
        problems += [
            f"two codes are called `{name}`" for name in dict.fromkeys(names) if names.count(name) > 1 and name
        ]
        problems += [] if names else ["there is no code"]
        problems += [f"`{self.name}` does not say which questions it is for"] if self.name and not self.covers else []
        problems += ["a codebook for some questions alone has no name"] if self.covers and not self.name else []
        if problems:
            message = f"a codebook names each code once and defines it: {'; '.join(problems)}"
            raise InputError(message)

    @staticmethod
    def subject(study: str) -> str:
        """Return the hash under which the codebooks of a study are stored."""
        return digest("codebooks", study)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its codes, in order."""
        return tuple(code.name for code in self.codes)

    def check(self, codes: Sequence[str]) -> None:
        """Reject codes that the codebook lacks.

        Raises:
            InputError: If there are any.
        """
        strange = [f"`{name}`{did_you_mean(name, self.names)}" for name in codes if name not in self.names]
        if strange:
            message = f"the codebook has no code {', '.join(strange)}; its codes are {', '.join(self.names)}"
            raise InputError(message)

    def outdates(self, earlier: Codebook, codes: Sequence[str]) -> bool:
        """Return whether an answer that was coded by an earlier revision must be coded again.

        A code that is new, or whose meaning has changed, may apply to any answer. A removed
        code only concerns answers with it. Examples and order concern none.

        Args:
            earlier: Codebook used for the coding.
            codes: Assigned codes.
        """
        known = {code.name: code.meaning for code in earlier.codes}
        is_new = any(known.get(code.name) != code.meaning for code in self.codes)
        return is_new or any(name not in self.names for name in codes)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class OpenAnswer:
    """Reference to an answer: one session's tester and one open question.

    Attributes:
        session: Key of the session.
        questionnaire: Name of the questionnaire.
        question: Name of the question.
    """

    session: str
    questionnaire: str
    question: str

    @property
    def place(self) -> str:
        """The question, as `questionnaire.question`."""
        return f"{self.questionnaire}.{self.question}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoderAbsence:
    """Departure or return of a coder; their codings are kept, and their pending recodings go to others.

    Attributes:
        study: Name of the study.
        coder: Opaque key of the person.
        is_away: Whether the coder has left; False if they are back.
        by: Opaque key of its author.
        reason: Reason, in the person's words.
        revision: Number of the revision, from 1; the latest counts.
    """

    study: str
    coder: str
    is_away: bool
    by: str
    reason: str = ""
    revision: int = 1

    @staticmethod
    def subject(study: str) -> str:
        """Return the hash under which the absences of a study are stored."""
        return digest("coder absences", study)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    """A coder's codes for one answer; the latest revision counts, and earlier ones are kept.

    Attributes:
        answer: Which answer.
        coder: Opaque key of the person.
        codes: Names of the codes; none if no code applies, which is a separate answer.
        codebook: Content hash of the codebook.
        memo: The coder's notes on it, for other coders.
        revision: Number of the revision, from 1.
        at: Time; UTC, None before it is stored.
    """

    answer: OpenAnswer
    coder: str
    codes: tuple[str, ...]
    codebook: str
    memo: str = ""
    revision: int = 1
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingResolution:
    """Outcome of a discussion about an answer with different codings; the codings are unchanged.

    Attributes:
        answer: Which answer.
        codebook: Content hash of the codebook.
        codes: Codes agreed in the discussion; None without agreement.
        participants: Opaque keys of the people in the discussion.
        rationale: Reason, in their words.
        revision: Number of the revision, from 1; the latest counts.
    """

    answer: OpenAnswer
    codebook: str
    codes: tuple[str, ...] | None
    participants: tuple[str, ...]
    rationale: str = ""
    revision: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class HiddenSpan:
    """A hidden span of a text: index of its first character, and of the one after its last, from 0."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteRelease:
    """Permission to quote an answer verbatim, except hidden parts; without it nothing is shown.

    Attributes:
        answer: Which answer.
        by: Opaque key of the person who read it and gave permission.
        hidden: Hidden parts; the original is unchanged.
        is_given: Whether it may be shown; False if the permission was withdrawn.
        revision: Number of the revision, from 1; the latest counts.
    """

    answer: OpenAnswer
    by: str
    hidden: tuple[HiddenSpan, ...] = ()
    is_given: bool = True
    revision: int = 1

    def shown(self, text: str) -> str:
        """Return the answer in the form that may be shown: of equal length, with hidden words blocked out."""
        for span in self.hidden:
            text = blocked(text, span.start, span.end)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedAnswer:
    """An answer in the form that may be shown, without its author.

    Attributes:
        answer: Which answer.
        text: The text, with hidden words blocked out and names of applications and personal details masked.
    """

    answer: OpenAnswer
    text: str


class GivenCodes(NamedTuple):
    """The codes of an answer without the answer, to count many of them.

    Attributes:
        coder: Opaque key of the coder; empty for the outcome of a discussion.
        codebook: Content hash of the codebook.
        codes: Names of the codes; None for a discussion without agreement.
    """

    coder: str
    codebook: str
    codes: tuple[str, ...] | None


class CodedState(StrEnum):
    """State of the coding of an answer."""

    UNCODED = "not coded yet"
    ONCE = "coded by one person"
    ALIKE = "coded alike"
    DISPUTED = "coded differently"
    CONSENSUS = "settled by consensus"
    NO_CONSENSUS = "no consensus"


DIFFERING: Final = (CodedState.DISPUTED, CodedState.NO_CONSENSUS, CodedState.CONSENSUS)
"""States of answers with different codings, those without a discussion first."""

CODED: Final = (CodedState.ALIKE, *DIFFERING)
"""States of answers that all assigned coders have coded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedAnswer:
    """An answer with its current codings.

    Attributes:
        answer: Which answer.
        codings: One per coder, by a codebook that is still valid; earliest coder first.
        resolution: Outcome of a discussion; None if there is none, or if the codebook has changed since.
    """

    answer: OpenAnswer
    codings: tuple[Coding, ...] = ()
    resolution: CodingResolution | None = None

    @property
    def state(self) -> CodedState:
        """Its state."""
        if self.resolution is not None:
            return CodedState.NO_CONSENSUS if self.resolution.codes is None else CodedState.CONSENSUS
        if len(self.codings) < CODERS:
            return CodedState.ONCE if self.codings else CodedState.UNCODED
        is_alike = len({frozenset(coding.codes) for coding in self.codings}) == 1
        return CodedState.ALIKE if is_alike else CodedState.DISPUTED

    @property
    def is_coded(self) -> bool:
        """Whether all assigned coders have coded it."""
        return self.state in CODED

    def has(self, code: str) -> bool | None:
        """Return whether it has a code; None if that is unknown, or not agreed on.

        Coders who differ on one code may agree on another; no code is decided by majority.
        """
        if not self.is_coded:
            return None
        if self.resolution is not None and self.resolution.codes is not None:
            return code in self.resolution.codes
        verdicts = {code in coding.codes for coding in self.codings}
        return verdicts.pop() if len(verdicts) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingWork:
    """The complete coding of the open answers of a study.

    Attributes:
        codebooks: All revisions of all codebooks by content hash, oldest first.
        codings: Latest revision of each coder and answer.
        resolutions: Latest revision of each discussed answer.
        releases: Latest revision of each answer that a person checked for quotation.
        quotes: Answers in the form that may be shown.
        away: Opaque keys of coders who have left.
    """

    codebooks: Mapping[str, Codebook] = field(default_factory=dict)
    codings: tuple[Coding, ...] = ()
    resolutions: tuple[CodingResolution, ...] = ()
    releases: tuple[QuoteRelease, ...] = ()
    quotes: tuple[ReleasedAnswer, ...] = ()
    away: frozenset[str] = frozenset()

    @property
    def current(self) -> dict[str, Codebook]:
        """The current codebooks by name; the default for all other questions has no name and comes first."""
        latest = {book.name: book for book in self.codebooks.values()}
        return dict(sorted(latest.items()))

    def codebook_for(self, place: str) -> Codebook | None:
        """Return the current codebook for a question; None if there is none.

        Args:
            place: Reference of the question, as in `OpenAnswer.place`.
        """
        books = self.current
        return next((book for book in books.values() if place in book.covers), books.get(""))

    def is_due(self, coding: Coding) -> bool:
        """Return whether an answer must be coded again, because a relevant part of the codebook has changed."""
        return not self._holds(coding.answer, coding.codebook, coding.codes)

    def own(self, answer: OpenAnswer, coder: str) -> Coding | None:
        """Return the latest coding of an answer by a coder, under any codebook; None if there is none."""
        mine = (coding for coding in self.codings if coding.answer == answer and coding.coder == coder)
        return next(mine, None)

    def vacant(self, answer: OpenAnswer) -> str:
        """Return the coder whose slot at an answer is free because they left before recoding it; or None."""
        mine = (coding for coding in self.codings if coding.answer == answer and coding.coder in self.away)
        return next((coding.coder for coding in mine if self.is_due(coding)), "")

    def waits(self, answer: OpenAnswer, coder: str) -> bool:
        """Return whether a coder must code an answer: for the first time, or again."""
        own = self.own(answer, coder)
        if coder in self.away or self.codebook_for(answer.place) is None:
            return False
        if own is not None:
            return self.is_due(own)
        n_coders = sum(coding.answer == answer for coding in self.codings)
        return n_coders < CODERS or bool(self.vacant(answer))

    def about(self, answer: OpenAnswer, codings: Iterable[GivenCodes], resolution: GivenCodes | None) -> CodingWork:
        """Return the work on one answer under the same codebooks.

        Args:
            answer: The answer.
            codings: The latest codes of each of its coders, earliest coder first.
            resolution: The latest outcome of a discussion; None if there is none.
        """
        own = tuple(
            Coding(answer=answer, coder=coding.coder, codes=coding.codes or (), codebook=coding.codebook)
            for coding in codings
        )
        resolved = (
            CodingResolution(answer=answer, codebook=resolution.codebook, codes=resolution.codes, participants=())
            if resolution
            else None
        )
        return CodingWork(
            codebooks=self.codebooks, codings=own, resolutions=(resolved,) if resolved else (), away=self.away
        )

    def coded(self, answers: Iterable[OpenAnswer]) -> Iterator[CodedAnswer]:
        """Yield the position of each of some answers, in their order."""
        by_answer: dict[OpenAnswer, list[Coding]] = {}
        is_due: dict[tuple[str, str, tuple[str, ...]], bool] = {}  # many answers have the same codes
        for coding in self.codings:
            kind = coding.answer.place, coding.codebook, coding.codes
            if kind not in is_due:
                is_due[kind] = self.is_due(coding)
            if not is_due[kind]:
                by_answer.setdefault(coding.answer, []).append(coding)
        resolved = {
            resolution.answer: resolution
            for resolution in self.resolutions
            if self._holds(resolution.answer, resolution.codebook, resolution.codes or ())
        }
        for answer in answers:
            codings = tuple(by_answer.get(answer, ()))
            settlement = resolved.get(answer) if len(codings) >= CODERS else None
            yield CodedAnswer(answer=answer, codings=codings, resolution=settlement)

    def _holds(self, answer: OpenAnswer, codebook: str, codes: Sequence[str]) -> bool:
        now, then = self.codebook_for(answer.place), self.codebooks.get(codebook)
        return now is not None and then is not None and not now.outdates(then, codes)


def books_by_version(books: Iterable[Codebook]) -> dict[str, Codebook]:
    """Return codebooks by content hash, the oldest revision first."""
    return {version_of(book): book for book in sorted(books, key=lambda book: book.revision)}


TRIED: Final = Questionnaire(
    name="notes while testing",
    title="What I tried",
    instrument=Instrument(
        name="notes while testing",
        questions=(
            Question(
                name="tried",
                text="What was tried, how was it refined, and what came of it?",
                scale=Scale(kind=ScaleKind.TEXT),
            ),
        ),
    ),
)
"""The question that every red teamer answers on the page of the dialogue. Names in studies contain no spaces."""


def tried_in(summaries: Iterable[LiveDialogueSummary]) -> Iterator[QuestionnaireResponse]:
    """Yield the notes of each completed session, as one answer; nothing for sessions without a note.

    Args:
        summaries: Dialogues of people, in order.
    """
    by_session: dict[str, list[LiveDialogueSummary]] = defaultdict(list)
    for dialogue in summaries:
        by_session[dialogue.session.key].append(dialogue)
    question, version = TRIED.instrument.questions[0].name, version_of(TRIED)
    for dialogues in by_session.values():
        session = dialogues[0].session
        lines = [_strategy_text(strategy) for dialogue in dialogues for strategy in dialogue.strategies]
        if not lines or not session.is_over or session.state is SessionState.WITHDRAWN:
            continue
        yield QuestionnaireResponse(
            session=session.key,
            participant=session.participant,
            questionnaire=TRIED.name,
            instrument_version=version,
            answers=(Answer(question=question, outcome=Outcome.ANSWERED, value="\n".join(lines)),),
            submitted=True,
            application=session.application,
            scenario=session.scenario,
            level=session.level,
            dialogues=tuple(dialogue.unit for dialogue in dialogues if dialogue.unit),
            groups=dialogues[0].groups,
        )


def _strategy_text(strategy: Strategy) -> str:
    """Return a strategy as one line: its name, then its attempts and their outcomes, in order."""
    tries = "; ".join(_attempt_text(attempt) for attempt in strategy.attempts)
    name = strategy.name.replace("_", " ")
    return f"{name}: {tries}" if tries else name


def _attempt_text(attempt: Attempt) -> str:
    refined = f", refining try {attempt.refines}" if attempt.refines else ""
    return f"{attempt.description} ({attempt.outcome.value}{refined})"
