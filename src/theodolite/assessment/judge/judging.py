"""Judgements: a language model reads a dialogue, once or for each of its votes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from theodolite.assessment.form_rules import is_open, left_closed
from theodolite.assessment.judge.prompt import (
    Arrangement,
    ControlQuestion,
    answer_schema,
    asked_again,
    control_question,
    judge_messages,
)
from theodolite.assessment.judge.verdict import Verdict, read_verdict, unread
from theodolite.domain.annotation import Answer, Control, Outcome, Vote
from theodolite.domain.annotator import Ballot, ModelJudge, StopRule, Voting, decide_vote
from theodolite.domain.dialogue import Dialogue, TesterType
from theodolite.domain.flow import CONTENT_FILTER, AskModel, Flow, Reply
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Question, ScaleKind
from theodolite.domain.run import FailureSource

CUT_OFF = "length"
"""Stop reason of a model that reached its token limit."""

_FILTERED = "the judge's own filter withheld its reply"

_SHORTENED = "Its reply was cut off at the limit of tokens."

_WORST_FIRST = (Control.FAILED, Control.UNANSWERED, Control.PASSED, Control.NOT_ASKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Outcome of a judge's readings of one dialogue.

    Attributes:
        answers: The answers that count.
        votes: All readings; empty if a single reading decides.
        control: Answer to the control question, the worst reading first.
        answered_as: Names that the endpoint gave itself.
        scripted: Whether a script answered instead of a model.
    """

    answers: tuple[Answer, ...]
    votes: tuple[Vote, ...] = ()
    control: Control = Control.NOT_ASKED
    answered_as: tuple[str, ...] = ()
    scripted: bool = False


def judgement(judge: ModelJudge, guideline: Guideline, dialogue: Dialogue, *, below_half: BelowHalf) -> Flow[Judgement]:
    """Let a judge read a dialogue until its votes are settled.

    The readings are independent: none sees the others. What came
    as a reply is read strictly; a reply that cannot be read is asked for once
    more, and is a vote for "unparseable" if that does not help.

    Args:
        judge: Which model, and how often it reads.
        guideline: The questions.
        dialogue: The dialogue of the questions.
        below_half: Probability that a Beta variable is below one half, for votes that stop by their price.
    """
    votes: list[Vote] = []
    replies: list[Reply] = []
    most = judge.voting.most  # after the last vote the position is not needed
    while not votes or (len(votes) < most and not is_settled(judge.voting, races(votes, guideline), below_half)):
        vote, received = yield from _reading(judge, guideline, dialogue, len(votes) + 1)
        votes.append(vote)
        replies += received
    controls = {vote.control for vote in votes}
    return Judgement(
        answers=majority(votes, guideline, dialogue.groups) if judge.voting.most > 1 else votes[0].answers,
        votes=tuple(votes) if judge.voting.most > 1 else (),
        control=next(state for state in _WORST_FIRST if state in controls),
        answered_as=tuple(sorted({reply.answered_as for reply in replies if reply.answered_as})),
        scripted=any(reply.scripted for reply in replies),
    )


def _reading(
    judge: ModelJudge, guideline: Guideline, dialogue: Dialogue, replicate: int
) -> Flow[tuple[Vote, tuple[Reply, ...]]]:
    control = control_question(dialogue, replicate)
    messages = judge_messages(guideline, dialogue, replicate, control=control)
    arrangement = Arrangement(replicate=replicate)
    call = AskModel(
        model=judge.model,
        messages=messages,
        party=FailureSource.JUDGE,
        replicate=replicate,
        answer_schema=answer_schema(guideline, arrangement),
        may_be_cached=dialogue.held_by is not TesterType.PERSON,
    )
    reply = yield call
    replies = [reply]
    verdict = _read(reply, guideline, dialogue, replicate, control)
    if verdict.problem and reply.finish != CONTENT_FILTER:
        problem = "it was cut off before its end" if reply.finish == CUT_OFF else verdict.problem
        again = asked_again(messages, reply.text, problem)
        # Without the form: a judge that refuses has no other way to state it.
        reply = yield replace(call, messages=again, answer_schema=None)
        replies.append(reply)
        second = _read(reply, guideline, dialogue, replicate, control)
        verdict = min(verdict, second, key=lambda each: each.n_unparseable)
        if verdict.is_unread:
            verdict = _unread(verdict, guideline, replies, replicate)
    vote = Vote(
        replicate=replicate,
        answers=verdict.answers,
        arrangement=arrangement.words(len(guideline.examples)),
        control=verdict.control,
    )
    return vote, tuple(replies)


def _unread(verdict: Verdict, guideline: Guideline, replies: Sequence[Reply], replicate: int) -> Verdict:
    """Return an unparseable verdict with its reason, if the replies show one."""
    refusal = next((reply.text for reply in reversed(replies) if declines(reply.text)), "")
    if refusal:
        return Verdict(answers=unread(guideline, Outcome.REFUSED, raw=refusal, replicate=replicate))
    if replies[-1].finish == CUT_OFF:
        return replace(verdict, answers=tuple(replace(answer, reasoning=_SHORTENED) for answer in verdict.answers))
    return verdict


def _read(reply: Reply, guideline: Guideline, dialogue: Dialogue, replicate: int, control: ControlQuestion) -> Verdict:
    if reply.finish == CONTENT_FILTER:
        refused = unread(guideline, Outcome.REFUSED, reasoning=_FILTERED, replicate=replicate)
        return Verdict(answers=refused)
    return read_verdict(reply.text, guideline, dialogue, replicate=replicate, control=control)


_SORRY = r"(?:(?:i'm|i am) (?:really |very |truly )?sorry|sorry|my apologies|apologies|i apologi[sz]e|unfortunately)"

_NOT = r"(?:can't|cannot|can not|could not|couldn't|won't|will not|(?:am|'m) (?:unable|not able) to)"

_DEEDS = (
    r"(?:assist|help|comply|judge|evaluate|assess|rate|score|label|annotate|classify|review|analy[sz]e|process|discuss"
    r"|engage|participate|continue|proceed|fulfil|provide|answer|respond|complete|do (?:that|this|so))"
)

_DECLINES = (
    rf"\A\W*(?:{_SORRY}\b\W*(?:but|however)?\W*)?"
    rf"(?:i ?{_NOT} (?:\w+ ){{0,3}}?{_DEEDS}\b"
    r"|i (?:must|have to|need to|respectfully)? ?(?:decline|refuse)\b"
    r"|(?:this|that|it) (?:is|isn't) (?:not )?something (?:that )?i (?:can't|cannot|can|am able to|won't)\b)"
)


@cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern for such words; made when a verdict is first missing, since this is slow."""
    return re.compile(_DECLINES, re.IGNORECASE)


def declines(text: str) -> bool:
    """Return whether a reply without a verdict is a refusal.

    Args:
        text: The judge's output, if it contains no readable verdict.

    Example:
        >>> declines("I'm sorry, but I can't assist with evaluating this content.")
        True
        >>> declines("I cannot find a promise: no.")
        False
    """
    return "{" not in text and bool(_pattern().match(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")))


Place = tuple[str, int | None]
"""A question, and the turn that it is asked about; None for the dialogue."""

BelowHalf = Callable[[float, float], float]
"""Probability that a Beta(a, b) variable is below one half; `measurement` computes it, and callers pass it in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """State of the vote on one question.

    Attributes:
        first: Votes for the leading answer; count.
        second: Votes for the runner-up; count.
        read: Votes with a value; count.
        defects: Votes for a defect among them; count.
        cast: All votes; count.
    """

    first: int
    second: int
    read: int
    defects: int
    cast: int


def is_settled(voting: Voting, races: Sequence[Race], below_half: BelowHalf) -> bool:
    """Return whether no further reading is needed: the vote on each question has ended.

    Args:
        voting: The rule.
        races: Votes on the questions; all have the same number.
        below_half: Probability that a Beta variable is below one half.
    """
    return all(_is_over(voting, race, below_half) for race in races)


def _is_over(voting: Voting, race: Race, below_half: BelowHalf) -> bool:
    if race.cast >= voting.most:
        return True
    if not race.cast or voting.rule is StopRule.FIXED:
        return False
    # Only a majority of all readings is safe: the remaining readings together can overtake a mere lead.
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
    """Return the votes on all questions of a defect rule, turn by turn."""
    deciding = {rule.question for rule in guideline.defect_rules}
    questions = [q for q in guideline.instrument.questions if q.name in deciding and q.scale.kind is not ScaleKind.TEXT]
    return tuple(
        _race([_ballot(vote, position) for vote in votes], question, guideline)
        for question in questions
        for position in _places(votes, question)
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
    """Return the label from a judge's readings, for each question; see `decide_vote`.

    A follow-up is decided among the readings that opened it, if the majority
    opens it. Reason and quotes are those of the first reading that agrees. Free
    text has no majority: it is taken from the reading that agrees with the
    majority on most other questions.

    Args:
        votes: All readings of one dialogue by one judge; one at least.
        guideline: The questions.
        groups: Groups of the dialogue, which decide the rules that apply; None for all rules.
    """
    rules = [rule for rule in guideline.defect_rules if groups is None or rule.applies_to(groups)]
    decided: list[Answer] = []
    for question in guideline.instrument.questions:
        if question.scale.kind is not ScaleKind.TEXT:
            decided += [_decided(votes, position, decided, guideline, rules) for position in _places(votes, question)]
    representative = max(votes, key=lambda vote: (_n_agreeing(vote, decided), -vote.replicate))
    texts = [
        answer for answer in representative.answers if answer.question not in {known.question for known in decided}
    ]
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
    open_votes = [vote for vote in votes if is_open(question, vote.answers, instrument, turn)] or list(votes)
    ballots = [_ballot(vote, place) for vote in open_votes]
    own = [rule for rule in rules if rule.question == question.name]
    decision = decide_vote(ballots, question.scale, own)
    if decision is None:
        tally = _tie_words(Counter(ballots))
        return Answer(question=question.name, outcome=Outcome.MISSING, turn=turn, reasoning=tally)
    # Outcomes without a value differ only in the outcome, so the first one represents all.
    winner = open_votes[ballots.index(decision)]
    return _answer_at(winner, place) or Answer(question=question.name, outcome=Outcome.MISSING, turn=turn)


def _tie_words(counts: Counter[Ballot]) -> str:
    return "tied votes: " + ", ".join(f"{value or outcome.value} {n}" for (outcome, value), n in counts.most_common())


def _n_agreeing(vote: Vote, decided: Sequence[Answer]) -> int:
    return sum(_ballot(vote, (a.question, a.turn)) == (a.outcome, a.value) for a in decided)


def _places(votes: Sequence[Vote], question: Question) -> Iterator[Place]:
    turns = dict.fromkeys(a.turn for vote in votes for a in vote.answers if a.question == question.name)
    # An unreadable reading has no turns, so it uses None beside readings that have.
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
    """Cost of a reading, and prior of the share of defect votes.

    Attributes:
        price: Cost of one call relative to a wrong label (cost 1).
        prior: Parameters of the Beta prior.
        below_half: Probability that a Beta variable is below one half.
    """

    price: float
    prior: tuple[float, float]
    below_half: BelowHalf


def pays(read: int, defects: int, *, left: int, stakes: Stakes) -> bool:
    """Return whether one more reading is worth its price.

    The share of a judge's readings that call the dialogue a defect has a Beta
    prior; a wrong label costs 1 and each call its price. One more reading pays
    if stopping now costs more than the best continuation, computed by backward
    induction over the possible remaining readings.

    Args:
        read: Readings so far; count.
        defects: Votes for a defect among them; count.
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
    """Return the expected loss of the best continuation."""
    stop = _risk(read, defects, stakes)
    if not left or stop <= stakes.price:
        return stop
    share = (defects + stakes.prior[0]) / (read + sum(stakes.prior))
    more = stakes.price + share * _loss(read + 1, defects + 1, left - 1, stakes)
    more += (1 - share) * _loss(read + 1, defects, left - 1, stakes)
    return min(stop, more)


@cache
def _risk(read: int, defects: int, stakes: Stakes) -> float:
    """Return the probability that the likelier side is wrong."""
    below = stakes.below_half(defects + stakes.prior[0], read - defects + stakes.prior[1])
    return min(below, 1 - below)
