"""What came of coding: how far coders agree, and how often each theme was written of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.codings.coded import CodedState
from theodolite.domain.dialogue import Level
from theodolite.domain.findings.number import Estimate, Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAgreement:
    """How far coders agree on one code; a diagnosis, never a decision.

    Attributes:
        code: Name of the code.
        n_given: Codings that give it; count.
        alike: Share of answers coded by two of which both say the same.
        alpha: Krippendorff's alpha, nominal.
    """

    code: str
    n_given: int
    alike: Estimate | Undefined
    alpha: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class CoderPair:
    """How far two coders agree on the answers that both have coded; a diagnosis, never a decision.

    Attributes:
        first: Opaque key of the one.
        second: Opaque key of the other.
        n: Answers that both have coded; count.
        alike: Share of them to which both gave the same codes.
        alpha: Krippendorff's alpha of whole sets of codes, with the distance MASI.
        codes: Agreement on each code.
    """

    first: str
    second: str
    n: int
    alike: Estimate | Undefined
    alpha: Estimate | Undefined
    codes: tuple[CodeAgreement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeShare:
    """How many answers speak of one theme, for one application and level and perhaps one group of testers.

    Attributes:
        code: Name of the code.
        application: Name of the application.
        level: Level of testing; levels are never added.
        group: Name and value of the group; empty for all testers.
        n: Answers of which it is known whether they speak of it; count.
        n_undecided: Answers on which coders differ without a consensus; count, not in `n`.
        n_uncoded: Answers that two have not coded yet; count, not in `n`.
        n_people: Testers behind the known ones; count.
        share: Share of the known ones; None where they are too few people to be told of.
        bounds: The share if none, and if all, of the undecided and uncoded ones spoke of it; fractions,
            None where withheld or where there are no answers.
    """

    code: str
    application: str
    level: Level
    group: tuple[str, str] | tuple[()] = ()
    n: int = 0
    n_undecided: int = 0
    n_uncoded: int = 0
    n_people: int = 0
    share: Estimate | Undefined | None = None
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeQuote:
    """An answer that may be shown, with the codes it has beyond dispute.

    Attributes:
        text: Its words, as they were released.
        codes: Names of the codes.
        application: Name of the application.
        level: Level of testing.
    """

    text: str
    codes: tuple[str, ...]
    application: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingFinding:
    """What came of coding the answers to one open question.

    Attributes:
        questionnaire: Name of the questionnaire.
        question: Name of the question.
        text: What was asked.
        codebook: Content hash of the codebook.
        revision: Number of its revision.
        name: What the codebook is called; empty for the one for all questions no other one is for.
        n: Answers; count.
        n_coders: People who coded some of them; count.
        states: Where the answers stand; counts that add up to `n`.
        alike: Share of answers coded by two to which both gave the same codes.
        alpha: Krippendorff's alpha of whole sets of codes, with the distance MASI.
        codes: Agreement on each code.
        pairs: Agreement of every two coders who have coded the same answers.
        themes: Share of each code by application and level, then by group within each.
        quotes: Answers that may be shown.
    """

    questionnaire: str
    question: str
    text: str
    codebook: str
    revision: int
    name: str = ""
    n: int
    n_coders: int
    states: Mapping[CodedState, int] = field(default_factory=dict)
    alike: Estimate | Undefined
    alpha: Estimate | Undefined
    codes: tuple[CodeAgreement, ...] = ()
    pairs: tuple[CoderPair, ...] = ()
    themes: tuple[ThemeShare, ...] = ()
    quotes: tuple[ThemeQuote, ...] = ()

    @property
    def coders(self) -> dict[str, str]:
        """What results call the coders of pairs, by opaque key: numbered in the order of keys, which tells nothing."""
        keys = sorted({key for pair in self.pairs for key in (pair.first, pair.second)})
        return {key: f"coder {number}" for number, key in enumerate(keys, 1)}
