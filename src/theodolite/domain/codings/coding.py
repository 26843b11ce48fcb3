"""Coding: what testers wrote in their own words, sorted by people under codes that are written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from theodolite.domain.blocking import blocked
from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.domain.identity import digest

CODERS = 2
"""People who code each answer, blind to each other; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """One thing that an answer may speak of.

    Attributes:
        name: What coders and readers call it; unique in its codebook.
        definition: What it means, in a sentence or two.
        include: When it is given.
        exclude: When it is not given, although one might think so.
        example: Words to which it is given; invented, or released by whoever wrote them.
    """

    name: str
    definition: str
    include: str = ""
    exclude: str = ""
    example: str = ""

    @property
    def meaning(self) -> tuple[str, str, str]:
        """What decides whether an answer has the code; an example only shows it."""
        return self.definition, self.include, self.exclude


@dataclass(frozen=True, slots=True, kw_only=True)
class Codebook:
    """The codes for some questions of a study at one time; never changed, a further revision takes its place.

    Attributes:
        study: Name of the study.
        codes: In the order in which coders see them.
        revision: Number of the revision among those of its name, from 1.
        by: Opaque key of who wrote it.
        note: What has changed, and why.
        name: What it is called; empty for the one that is for all questions no other one is for.
        covers: Places of the questions that it is for, as `OpenAnswer.place` has them; empty without a name.
    """

    study: str
    codes: tuple[Code, ...]
    revision: int = 1
    by: str = ""
    note: str = ""
    name: str = ""
    covers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse codes without a name or meaning, and two of one name; says all faults at once."""
        names = [code.name.casefold() for code in self.codes]
        faults = [f"`{code.name}` says not what it means" for code in self.codes if not code.definition.strip()]
        faults += ["a code has no name"] if "" in names else []
        faults += [f"two codes are called `{name}`" for name in dict.fromkeys(names) if names.count(name) > 1 and name]
        faults += [] if names else ["there is no code"]
        faults += [f"`{self.name}` does not say which questions it is for"] if self.name and not self.covers else []
        faults += ["a codebook for some questions alone has no name"] if self.covers and not self.name else []
        if faults:
            message = f"a codebook names each code once and defines it: {'; '.join(faults)}"
            raise InputError(message)

    @staticmethod
    def subject(study: str) -> str:
        """Return the hash under which the codebooks of a study are filed."""
        return digest("codebooks", study)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its codes, in order."""
        return tuple(code.name for code in self.codes)

    def check(self, codes: Sequence[str]) -> None:
        """Refuse codes that are not in it.

        Raises:
            InputError: If there are some.
        """
        strange = [f"`{name}`{did_you_mean(name, self.names)}" for name in codes if name not in self.names]
        if strange:
            message = f"the codebook has no code {', '.join(strange)}; its codes are {', '.join(self.names)}"
            raise InputError(message)

    def outdates(self, earlier: Codebook, codes: Sequence[str]) -> bool:
        """Tell whether an answer that was coded by an earlier revision must be looked at again.

        A code that is new, or means something else now, may belong to any answer. One
        that is gone only concerns answers that bear it. Examples and order concern none.

        Args:
            earlier: By which it was coded.
            codes: What it was given.
        """
        known = {code.name: code.meaning for code in earlier.codes}
        is_new = any(known.get(code.name) != code.meaning for code in self.codes)
        return is_new or any(name not in self.names for name in codes)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class OpenAnswer:
    """Where something was written: the answer of one session's tester to one open question.

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
    """That a coder has left, or is back; what they have coded stays, what they would code again goes to others.

    Attributes:
        study: Name of the study.
        coder: Opaque key of the person.
        is_away: Whether they have left; False where they are back.
        by: Opaque key of who wrote it down.
        reason: Why, in their words.
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
        """Return the hash under which the absences of a study are filed."""
        return digest("coder absences", study)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    """What one coder sees in one answer; a later revision of the same coder counts, and the earlier ones stay.

    Attributes:
        answer: Which answer.
        coder: Opaque key of the person.
        codes: Names of the codes; none where none fits, which is an answer of its own.
        codebook: Content hash of the codebook.
        memo: What the coder thinks about it, for those who code.
        revision: Number of the revision, from 1.
        at: When; UTC, None before it is kept.
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
    """What came of talking about an answer that was coded differently; the codings stay as they are.

    Attributes:
        answer: Which answer.
        codebook: Content hash of the codebook.
        codes: What those who talked agreed on; None where they did not.
        participants: Opaque keys of those who talked.
        rationale: Why, in their words.
        revision: Number of the revision, from 1; the latest counts.
    """

    answer: OpenAnswer
    codebook: str
    codes: tuple[str, ...] | None
    participants: tuple[str, ...]
    rationale: str = ""
    revision: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class HiddenStretch:
    """A stretch of a text that is not shown: where it begins, and the place behind its end; characters, from 0."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteRelease:
    """Leave to show an answer word by word, but for what is hidden; nothing is shown without one.

    Attributes:
        answer: Which answer.
        by: Opaque key of who read it and gave leave.
        hidden: What is not shown; the original stays as it is.
        is_given: Whether it may be shown; False where leave was taken back.
        revision: Number of the revision, from 1; the latest counts.
    """

    answer: OpenAnswer
    by: str
    hidden: tuple[HiddenStretch, ...] = ()
    is_given: bool = True
    revision: int = 1

    def shown(self, text: str) -> str:
        """Return the answer as it may be shown: of the same length, hidden words blocked out."""
        for stretch in self.hidden:
            text = blocked(text, stretch.start, stretch.end)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedAnswer:
    """An answer as it may be shown, with who can be told of it: never a person.

    Attributes:
        answer: Which answer.
        text: Its words, hidden ones blocked out, names of applications and personal details masked.
    """

    answer: OpenAnswer
    text: str
