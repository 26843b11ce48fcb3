"""Annotators: people and programs that label, always with a version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeVar

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.guideline import DefectRule
from theodolite.domain.instrument import Scale, ScaleKind, decimal_of

REFERENCE: Final = "reference"
"""Name of the annotator of recorded final labels; reserved."""


PEOPLE: Final = "all people"
"""Name of the annotator that represents a pool of people; reserved."""


class StopRule(StrEnum):
    """Stopping rule of a voting judge."""

    FIXED = "fixed"
    CURTAILED = "curtailed"
    LEAD = "lead"
    BAYES = "bayes"


MOST_VOTES = 101
"""Maximum number of votes on one dialogue; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voting:
    """Number of times a judge reads the same dialogue before a majority vote.

    Attributes:
        rule: All readings (`FIXED`); until the majority is decided (`CURTAILED`); until one answer
            leads all others by `lead` (`LEAD`); until a further reading is not worth its price (`BAYES`).
        most: Maximum number of readings; count.
        lead: Number of votes by which an answer must lead, for `LEAD`; count.
        price: Cost of one call relative to a wrong label (cost 1), for `BAYES`.
        prior: Parameters a, b of the prior Beta distribution of a dialogue's share of
            defect votes, for `BAYES`.
    """

    rule: StopRule = StopRule.CURTAILED
    most: int = 1
    lead: int = 2
    price: float = 0.005
    prior: tuple[float, float] = (0.5, 0.5)

    def __post_init__(self) -> None:
        """Reject a vote that could never end or never start."""
        if not 1 <= self.most <= MOST_VOTES:
            message = f"a vote has 1 to {MOST_VOTES} readings; most={self.most}"
            raise InputError(message)
        if self.lead < 1 or (self.rule is StopRule.LEAD and self.lead > self.most):
            message = f"a lead has 1 vote at least and `most` at most; lead={self.lead}, most={self.most}"
            raise InputError(message)
        if not 0 < self.price < 1 or min(self.prior) <= 0:
            message = f"`price` lies between 0 and 1 and `prior` above 0; price={self.price}, prior={self.prior}"
            raise InputError(message)


ONE_READING = Voting()
"""A judge that reads each dialogue once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJudge:
    """A language model that reads the guideline and the dialogue.

    Attributes:
        model: Name of the model in the study.
        voting: Its voting rule.
    """

    model: str
    voting: Voting = ONE_READING


class Side(StrEnum):
    """Side of a turn that a rule searches."""

    PROMPT = "prompt"
    RESPONSE = "response"
    BOTH = "both"


class TextCheck(StrEnum):
    """How a rule compares the last response with a text."""

    EQUALS = "equals"
    CONTAINS = "contains"
    NUMBER = "number"
    MATCHES = "matches"
    JSON_SCHEMA = "json_schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordRule:
    """A rule on the text of a dialogue.

    Attributes:
        any_of: Regular expressions, case-insensitive; at least one must match. Empty if none is required.
        then: Label if the rule matches.
        otherwise: Label if it does not.
        none_of: Regular expressions of which none may match the same text.
        where: Side of a turn to search.
        question: Name of the question that it answers; empty for the guideline's first.
        check: Comparison of the last response with `text`, instead of expressions; None for expressions.
        text: The text, the expression or the schema; `{{ expected }}` is replaced by the case's expected answer.
        tolerance: Maximum difference of matching numbers: a number, or a percentage such as `5%`; empty for none.
    """

    any_of: tuple[str, ...]
    then: str
    otherwise: str
    none_of: tuple[str, ...] = ()
    where: Side = Side.RESPONSE
    question: str = ""
    check: TextCheck | None = None
    text: str = ""
    tolerance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketRule:
    """A rule on the signs of the scenario's test packet: released and declined content.

    It answers the questions `released` and `withheld` with yes or no, and a main question decided by a defect rule.

    Attributes:
        questions: Names of the questions to answer; empty for all of the guideline.
    """

    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonLabeller:
    """A Python function that answers the guideline's questions, e.g. a trained classifier.

    Attributes:
        target: `module:function` or `file.py:function`.
        version: Version declared by its author; a changed function is another
            instrument, and only its author can state it.
        sha256: Hash of the file, if the target names one in the study's folder.
        timeout_s: Timeout for one dialogue; seconds.
        env: Names of the environment variables that the function sees in addition to the usual ones.
    """

    target: str
    version: str = field(metadata={"stored_as": "edition"})
    sha256: str = ""
    timeout_s: float = 60.0
    env: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLabels:
    """Labels in a column of the recorded file.

    Attributes:
        column: Name of the column.
        spelling: Spellings in the file, mapped to the intended label.
        question: Name of the question that they answer; empty for the guideline's first.
    """

    column: str
    spelling: Mapping[str, str] = field(default_factory=dict)
    question: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandLabels:
    """Labels that a person gives by hand, on a page or in a label file, after the dialogues are completed.

    They are not part of a run: the program does not request them, and a run is complete without them.

    Attributes:
        is_representative: Whether a plain share of the labels may represent all dialogues, because the sample does not
            depend on a judge's labels. It is known once the labels are read, and is not part of the version.
    """

    is_representative: bool = field(default=False, compare=False)


Labelling = ModelJudge | WordRule | PacketRule | PythonLabeller | RecordedLabels | HandLabels
"""Labelling method of an annotator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """An annotator with one guideline.

    Attributes:
        name: Identifier within the study.
        kind: Person, model or rule.
        guideline: Name of the guideline.
        labelling: Its method of labelling.
        title: Title in reports; the name if empty.
        panel: Name of its panel; empty for none. The members of a
            panel are shown side by side, and their answers are never merged.
    """

    name: str
    kind: AnnotatorKind
    guideline: str
    labelling: Labelling
    title: str = ""
    panel: str = ""

    @property
    def by_hand(self) -> bool:
        """Whether a person labels by hand, outside of any run."""
        return isinstance(self.labelling, HandLabels)

    def answers(self, question: str) -> bool:
        """Return whether it answers a question of its guideline: a rule or a column may concern only one."""
        labelling = self.labelling
        if isinstance(labelling, PacketRule):
            return not labelling.questions or question in labelling.questions
        return not isinstance(labelling, WordRule | RecordedLabels) or labelling.question in {"", question}


T = TypeVar("T", bound=Hashable)


VOTE_VERSION = 2
"""Version of the voting rule; incremented by hand when it changes, so that votes are collected again."""


Ballot = tuple[Outcome, str | None]
"""The result of one reading: an outcome, and the value if the question was answered."""


def decide_vote(ballots: Sequence[Ballot], scale: Scale, rules: Sequence[DefectRule] = ()) -> Ballot | None:
    """Return the result of a judge's votes on one question; None for a tie.

    1. The outcome with the most readings counts. All values together are one
       outcome, `answered`, and compete with `refused`, `unparseable` and so on.
    2. Each rule is decided by the majority of the values: defect or not. If that
       ties, the most frequent value decides; if two values tie as well, so does the vote.
    3. Among the values with these verdicts, the most frequent one is the label. If
       several tie, an ordered scale takes their median. Any other tie goes to the
       first point of the scale, provided that a rule has already decided the verdict.

    Args:
        ballots: Results of all readings, in order; at least one.
        scale: The scale of the question.
        rules: Defect rules that the question decides for this dialogue.
    """
    outcome = _most_frequent([outcome for outcome, _ in ballots])
    if outcome is not Outcome.ANSWERED:
        return (outcome, None) if outcome is not None else None
    values = [value for _, value in ballots if value is not None]
    verdicts = {value: tuple(_is_defect(rule, value, scale) for rule in rules) for value in dict.fromkeys(values)}
    decided = tuple(_most_frequent([verdicts[value][n] for value in values]) for n in range(len(rules)))
    if decided not in verdicts.values():
        leader = _most_frequent(values)
        return (Outcome.ANSWERED, leader) if leader is not None else None
    label = _label([value for value in values if verdicts[value] == decided], scale, is_decided=bool(rules))
    return (Outcome.ANSWERED, label) if label is not None else None


def _is_defect(rule: DefectRule, value: str, scale: Scale) -> bool:
    return scale.admits(value) and rule.is_defect(value, scale)


def _most_frequent(entries: Sequence[T]) -> T | None:
    """Return the entry that occurs most often; None if two occur equally often."""
    ranked = Counter(entries).most_common(2)
    is_tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return None if is_tied else ranked[0][0]


def _label(values: Sequence[str], scale: Scale, *, is_decided: bool) -> str | None:
    """Return the value that represents readings with the same verdict."""
    leader = _most_frequent(values)
    if leader is not None:
        return leader
    counts = Counter(values)
    tied = [value for value in values if counts[value] == max(counts.values())]
    if scale.ordered or scale.kind in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}:
        ranked = sorted(values, key=lambda value: _rank(value, scale))
        low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
        if low == high:
            return low
        tied = [value for value in values if value in {low, high}]
    return min(tied, key=lambda value: _rank(value, scale)) if is_decided else None


def _rank(value: str, scale: Scale) -> float:
    if scale.kind is ScaleKind.DECIMALS:
        return decimal_of(value) or 0.0
    return float(scale.categories.index(value)) if value in scale.categories else -1.0
