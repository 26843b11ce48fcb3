"""Voting: when a judge has read a dialogue often enough, and what its readings come to.

Every outcome of a reading takes part in the vote: a value, "does not apply",
"unable to determine" and a reply that cannot be parsed. `domain.votes` holds the
rule that turns the readings into one label; a tie has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from theodolite.assessment.routing import is_open, left_closed
from theodolite.domain.annotation import Answer, Outcome, Vote
from theodolite.domain.annotator import Ballot, StopRule, Voting, decide_vote
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Question, ScaleKind

Place = tuple[str, int | None]
"""A question, and the turn that it is asked about; None for the dialogue."""

BelowHalf = Callable[[float, float], float]
"""Probability that a Beta(a, b) variable lies below one half; `measurement` computes it, and callers pass it in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Where the vote on one question stands.

    Attributes:
        first: Votes for the answer that is ahead; count.
        second: Votes for the one behind it; count.
        read: Votes with a value; count.
        defects: Votes among these whose value is a defect; count.
        cast: All votes; count.
    """

    first: int
    second: int
    read: int
    defects: int
    cast: int


def is_settled(voting: Voting, races: Sequence[Race], below_half: BelowHalf) -> bool:
    """Tell whether no further reading is needed: every question's vote has come to its end.

    Args:
        voting: The rule.
        races: Where the questions stand; all have equally many votes.
        below_half: Probability that a Beta variable lies below one half.
    """
    return all(_is_over(voting, race, below_half) for race in races)


def _is_over(voting: Voting, race: Race, below_half: BelowHalf) -> bool:
    if race.cast >= voting.most:
        return True
    if not race.cast or voting.rule is StopRule.FIXED:
        return False
    # Only a majority of all readings is safe: a mere lead may fall to the verdict of the others together.
    is_decided = 2 * race.first > voting.most
    if voting.rule is StopRule.CURTAILED:
        return is_decided
    if voting.rule is StopRule.LEAD:
        return is_decided or (race.first - race.second >= voting.lead and 2 * race.first > race.cast)
    if not race.read:
        return False
    left = voting.most - race.cast
    stakes = Stakes(price=voting.price, prior=voting.prior, below_half=below_half)
    return not pays(race.read, race.defects, left=left, stakes=stakes)


def races(votes: Sequence[Vote], guideline: Guideline) -> tuple[Race, ...]:
    """Return where the votes stand on all questions that a defect rule decides by, turn by turn."""
    deciding = {rule.question for rule in guideline.defect_rules}
    questions = [q for q in guideline.instrument.questions if q.name in deciding and q.scale.kind is not ScaleKind.TEXT]
    return tuple(
        _race([_ballot(vote, place) for vote in votes], question, guideline)
        for question in questions
        for place in _places(votes, question)
    )


def _race(ballots: Sequence[Ballot], question: Question, guideline: Guideline) -> Race:
    counts = [*sorted(Counter(ballots).values(), reverse=True), 0, 0]
    values = [value for outcome, value in ballots if outcome is Outcome.ANSWERED and value is not None]
    rules = [rule for rule in guideline.defect_rules if rule.question == question.name]
    defects = sum(any(rule.is_defect(value, question.scale) for rule in rules) for value in values)
    return Race(first=counts[0], second=counts[1], read=len(values), defects=defects, cast=len(ballots))


def majority(
    votes: Sequence[Vote], guideline: Guideline, groups: Mapping[str, str] | None = None
) -> tuple[Answer, ...]:
    """Return the label that a judge's readings come to, question by question; see `decide_vote`.

    A follow-up is decided among the readings that opened it, if the majority
    opens it. Reason and quotes are those of the first reading that agrees. Free
    text is nobody's majority: it is taken from the reading that agrees with the
    majority on most other questions.

    Args:
        votes: All readings of one dialogue by one judge; one at least.
        guideline: What was asked.
        groups: Groups of the dialogue, which decide the rules that apply; None for all rules.
    """
    rules = [rule for rule in guideline.defect_rules if groups is None or rule.applies_to(groups)]
    decided: list[Answer] = []
    for question in guideline.instrument.questions:
        if question.scale.kind is not ScaleKind.TEXT:
            decided += [_decided(votes, place, decided, guideline, rules) for place in _places(votes, question)]
    spoken = max(votes, key=lambda vote: (_n_agreeing(vote, decided), -vote.replicate))
    texts = [answer for answer in spoken.answers if answer.question not in {known.question for known in decided}]
    order = [question.name for question in guideline.instrument.questions]
    return tuple(replace(a, replicate=1) for a in sorted([*decided, *texts], key=lambda a: order.index(a.question)))


def _decided(
    votes: Sequence[Vote],
    place: Place,
    decided: Sequence[Answer],
    guideline: Guideline,
    rules: Sequence[DefectRule],
) -> Answer:
    instrument, turn = guideline.instrument, place[1]
    question = instrument.question(place[0])
    if not is_open(question, decided, instrument, turn):
        return left_closed(question, decided, instrument, turn)
    asked = [vote for vote in votes if is_open(question, vote.answers, instrument, turn)] or list(votes)
    ballots = [_ballot(vote, place) for vote in asked]
    own = [rule for rule in rules if rule.question == question.name]
    decision = decide_vote(ballots, question.scale, own)
    if decision is None:
        tally = _tie_words(Counter(ballots))
        return Answer(question=question.name, outcome=Outcome.MISSING, turn=turn, reasoning=tally)
    # Outcomes without a value differ in nothing but the outcome, so the first one stands for all.
    winner = asked[ballots.index(decision)]
    return _answer_at(winner, place) or Answer(question=question.name, outcome=Outcome.MISSING, turn=turn)


def _tie_words(counts: Counter[Ballot]) -> str:
    return "tied votes: " + ", ".join(f"{value or outcome.value} {n}" for (outcome, value), n in counts.most_common())


def _n_agreeing(vote: Vote, decided: Sequence[Answer]) -> int:
    return sum(_ballot(vote, (a.question, a.turn)) == (a.outcome, a.value) for a in decided)


def _places(votes: Sequence[Vote], question: Question) -> Iterator[Place]:
    turns = dict.fromkeys(a.turn for vote in votes for a in vote.answers if a.question == question.name)
    # A reading that nobody could read knows no turns, so it says None beside those that do.
    known: list[int | None] = [turn for turn in turns if turn is not None]
    known = known or list(turns)
    for turn in known:
        yield question.name, turn


def _answer_at(vote: Vote, place: Place) -> Answer | None:
    own = [answer for answer in vote.answers if answer.question == place[0]]
    return next((answer for answer in own if answer.turn in {place[1], None}), None)


def _ballot(vote: Vote, place: Place) -> Ballot:
    answer = _answer_at(vote, place)
    return (answer.outcome, answer.value) if answer else (Outcome.MISSING, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stakes:
    """What a reading costs, and what a share of defect votes is taken for.

    Attributes:
        price: Cost of one call, where a wrong label costs 1.
        prior: Parameters of the Beta prior.
        below_half: Probability that a Beta variable lies below one half.
    """

    price: float
    prior: tuple[float, float]
    below_half: BelowHalf


def pays(read: int, defects: int, *, left: int, stakes: Stakes) -> bool:
    """Tell whether one more reading is worth its price.

    The share of a judge's readings that call the dialogue a defect has a Beta
    prior; a wrong label costs 1 and each call its price. One more reading pays
    if stopping now is dearer than going on in the best way, found by backward
    induction over what the remaining readings may say.

    Args:
        read: Readings so far; count.
        defects: Those among them that say "defect"; count.
        left: Readings that may still follow; count.
        stakes: Price, prior and the distribution of the share.

    Example:
        >>> even = Stakes(price=0.1, prior=(1.0, 1.0), below_half=lambda a, b: 0.5 ** a if b == 1 else 1 - 0.5 ** b)
        >>> pays(1, 1, left=0, stakes=even)
        False

    Source:
        Backward induction for a Bernoulli share with a Beta prior: DeGroot (1970),
        Optimal Statistical Decisions, chapter 12, McGraw-Hill.
    """
    return left > 0 and _loss(read, defects, left, stakes) < _risk(read, defects, stakes)


@cache
def _loss(read: int, defects: int, left: int, stakes: Stakes) -> float:
    """Return the expected loss of the best course from here on."""
    stop = _risk(read, defects, stakes)
    if not left or stop <= stakes.price:
        return stop
    share = (defects + stakes.prior[0]) / (read + sum(stakes.prior))
    more = stakes.price + share * _loss(read + 1, defects + 1, left - 1, stakes)
    more += (1 - share) * _loss(read + 1, defects, left - 1, stakes)
    return min(stop, more)


@cache
def _risk(read: int, defects: int, stakes: Stakes) -> float:
    """Return the probability that the likelier side is the wrong one."""
    below = stakes.below_half(defects + stakes.prior[0], read - defects + stakes.prior[1])
    return min(below, 1 - below)
