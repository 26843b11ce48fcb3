"""Coded answers: where each answer stands between its coders, and which codes it has beyond dispute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from theodolite.domain.codings.coding import (
    CODERS,
    Codebook,
    Coding,
    CodingResolution,
    OpenAnswer,
    QuoteRelease,
    ReleasedAnswer,
)
from theodolite.domain.identity import version_of


class CodedState(StrEnum):
    """Where the coding of an answer stands."""

    UNCODED = "not coded yet"
    ONCE = "coded by one person"
    ALIKE = "coded alike"
    DISPUTED = "coded differently"
    CONSENSUS = "settled by consensus"
    NO_CONSENSUS = "no consensus"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedAnswer:
    """An answer with the codings that count now.

    Attributes:
        answer: Which answer.
        codings: One a coder, by a codebook that still holds; the first to code it first.
        resolution: What came of talking about it; None where nobody did, or the codebook has changed since.
    """

    answer: OpenAnswer
    codings: tuple[Coding, ...] = ()
    resolution: CodingResolution | None = None

    @property
    def state(self) -> CodedState:
        """Where it stands."""
        if self.resolution is not None:
            return CodedState.NO_CONSENSUS if self.resolution.codes is None else CodedState.CONSENSUS
        if len(self.codings) < CODERS:
            return CodedState.ONCE if self.codings else CodedState.UNCODED
        is_alike = len({frozenset(coding.codes) for coding in self.codings}) == 1
        return CodedState.ALIKE if is_alike else CodedState.DISPUTED

    @property
    def is_coded(self) -> bool:
        """Whether everybody has coded it who is to."""
        return self.state not in {CodedState.UNCODED, CodedState.ONCE}

    def has(self, code: str) -> bool | None:
        """Tell whether it has a code; None while that is not known, or not agreed on.

        Coders who differ on one code may well say the same of another, and no code is given by the greater number.
        """
        if not self.is_coded:
            return None
        if self.resolution is not None and self.resolution.codes is not None:
            return code in self.resolution.codes
        said = {code in coding.codes for coding in self.codings}
        return said.pop() if len(said) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingWork:
    """Everything that was done about open answers of a study.

    Attributes:
        codebooks: All revisions of all codebooks by content hash, the oldest first.
        codings: Latest revision of each coder and answer.
        resolutions: Latest revision of each answer that was talked about.
        releases: Latest revision of each answer that somebody read for being quoted.
        quotes: Answers as they may be shown.
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
        """The codebooks that hold now, by name; the one for all other questions has none, and comes first."""
        latest = {book.name: book for book in self.codebooks.values()}
        return dict(sorted(latest.items()))

    def codebook_for(self, place: str) -> Codebook | None:
        """Return the codebook by which a question is coded now; None where there is none for it.

        Args:
            place: The question, as `OpenAnswer.place` has it.
        """
        books = self.current
        return next((book for book in books.values() if place in book.covers), books.get(""))

    def is_due(self, coding: Coding) -> bool:
        """Tell whether an answer must be coded again, since the codebook has changed in what concerns it."""
        return not self._holds(coding.answer, coding.codebook, coding.codes)

    def vacant(self, answer: OpenAnswer) -> str:
        """Return the coder whose place at an answer is free, as they have left and would code it again; or nothing."""
        mine = (one for one in self.codings if one.answer == answer and one.coder in self.away)
        return next((one.coder for one in mine if self.is_due(one)), "")

    def coded(self, answers: Iterable[OpenAnswer]) -> Iterator[CodedAnswer]:
        """Yield where each of some answers stands, in their order."""
        by_answer: dict[OpenAnswer, list[Coding]] = {}
        for coding in self.codings:
            if not self.is_due(coding):
                by_answer.setdefault(coding.answer, []).append(coding)
        settled = {
            one.answer: one for one in self.resolutions if self._holds(one.answer, one.codebook, one.codes or ())
        }
        for answer in answers:
            codings = tuple(by_answer.get(answer, ()))
            settlement = settled.get(answer) if len(codings) >= CODERS else None
            yield CodedAnswer(answer=answer, codings=codings, resolution=settlement)

    def _holds(self, answer: OpenAnswer, codebook: str, codes: Sequence[str]) -> bool:
        now, then = self.codebook_for(answer.place), self.codebooks.get(codebook)
        return now is not None and then is not None and not now.outdates(then, codes)


def books_by_version(books: Iterable[Codebook]) -> dict[str, Codebook]:
    """Return codebooks by content hash, the oldest revision first."""
    return {version_of(book): book for book in sorted(books, key=lambda book: book.revision)}
