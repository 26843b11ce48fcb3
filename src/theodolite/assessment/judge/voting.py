"""Voting: when a judge has read a dialogue often enough, and what its readings come to.

Every outcome of a reading takes part in the vote: a value, "does not apply",
"unable to determine" and a reply that cannot be parsed. `domain.votes` holds the
rule that turns the readings into one label; a tie has none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from theodolite.assessment.routing import is_open, left_closed
from theodolite.domain.annotation import Answer, Outcome, Vote
from theodolite.domain.annotator import StopRule, Voting
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Question, ScaleKind
from theodolite.domain.votes import Ballot, decide_vote

Place = tuple[str, int | None]
"""A question, and the turn that it is asked about; None for the dialogue."""


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


def is_settled(voting: Voting, races: Sequence[Race]) -> bool:
    """Tell whether no further reading is needed: every question's vote has come to its end.

    Args:
        voting: The rule.
        races: Where the questions stand; all have equally many votes.
    """
    return all(_is_over(voting, race) for race in races)


def _is_over(voting: Voting, race: Race) -> bool:
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
    return not pays(race.read, race.defects, left=left, price=voting.price, prior=voting.prior)


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


def pays(read: int, defects: int, *, left: int, price: float, prior: tuple[float, float]) -> bool:
    """Tell whether one more reading is worth its price.

    The share of a judge's readings that call the dialogue a defect has a Beta
    prior; a wrong label costs 1 and each call its price. One more reading pays
    if stopping now is dearer than going on in the best way, found by backward
    induction over what the remaining readings may say.

    Args:
        read: Readings so far; count.
        defects: Those among them that say "defect"; count.
        left: Readings that may still follow; count.
        price: Cost of one call, where a wrong label costs 1.
        prior: Parameters of the Beta prior.

    Example:
        >>> pays(1, 1, left=4, price=0.2, prior=(0.5, 0.5))
        False
        >>> pays(2, 1, left=4, price=0.005, prior=(0.5, 0.5))
        True

    Source:
        Backward induction for a Bernoulli share with a Beta prior: DeGroot (1970),
        Optimal Statistical Decisions, chapter 12, McGraw-Hill.
    """
    stop = _risk(read, defects, prior)
    return left > 0 and _loss(read, defects, left, price, prior) < stop


@cache
def _loss(read: int, defects: int, left: int, price: float, prior: tuple[float, float]) -> float:
    """Return the expected loss of the best course from here on."""
    stop = _risk(read, defects, prior)
    if not left or stop <= price:
        return stop
    share = (defects + prior[0]) / (read + sum(prior))
    more = price + share * _loss(read + 1, defects + 1, left - 1, price, prior)
    more += (1 - share) * _loss(read + 1, defects, left - 1, price, prior)
    return min(stop, more)


@cache
def _risk(read: int, defects: int, prior: tuple[float, float]) -> float:
    """Return the probability that the likelier side is the wrong one."""
    below = beta_below_half(defects + prior[0], read - defects + prior[1])
    return min(below, 1 - below)


@cache
def beta_below_half(a: float, b: float) -> float:
    """Return the probability that a Beta(a, b) variable lies below one half.

    The regularised incomplete beta function by its continued fraction; the core
    has no numerical library outside `measurement`.

    Args:
        a: First parameter; above 0.
        b: Second parameter; above 0.

    Example:
        >>> beta_below_half(2.0, 1.0)
        0.25

    Source:
        Lentz (1976), Applied Optics 15:668-671, for the evaluation of continued fractions;
        the fraction is 8.17.22 of the NIST Digital Library of Mathematical Functions.
    """
    if a > b:
        return 1 - beta_below_half(b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - (a + b) * math.log(2)) / a
    return round(front * _fraction(a, b), 15)


def _fraction(a: float, b: float, x: float = 0.5) -> float:
    tiny, c, d = 1e-300, 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d or tiny)
    value = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / ((1.0 + term * d) or tiny)
            c = (1.0 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value
