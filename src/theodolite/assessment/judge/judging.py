"""Judging: a language model reads a dialogue, once or as often as its votes need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from theodolite.assessment.judge.arrangement import Arrangement
from theodolite.assessment.judge.control import ControlQuestion, control_question
from theodolite.assessment.judge.declining import declines
from theodolite.assessment.judge.form import answer_schema
from theodolite.assessment.judge.prompt import asked_again, judge_messages
from theodolite.assessment.judge.verdict import Verdict, read_verdict, unread
from theodolite.assessment.judge.voting import BelowHalf, is_settled, majority, races
from theodolite.domain.annotation import Answer, Control, Outcome, Vote
from theodolite.domain.annotator import ModelJudge
from theodolite.domain.dialogue import Dialogue, TesterType
from theodolite.domain.flow import CONTENT_FILTER, AskModel, Flow, Reply
from theodolite.domain.guideline import Guideline
from theodolite.domain.run import FailureSource

CUT_OFF = "length"
"""Why a model stopped that reached its limit of tokens."""

_FILTERED = "the judge's own filter withheld its reply"
_SHORTENED = "Its reply was cut off at the limit of tokens."
_WORST_FIRST = (Control.FAILED, Control.UNANSWERED, Control.PASSED, Control.NOT_ASKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a judge's readings of one dialogue came to.

    Attributes:
        answers: The answers that count.
        votes: All readings; empty where one was to decide.
        control: How the control question was answered, the worst reading first.
        answered_as: Names that the endpoint gave itself.
        scripted: Whether a script answered in place of a model.
    """

    answers: tuple[Answer, ...]
    votes: tuple[Vote, ...] = ()
    control: Control = Control.NOT_ASKED
    answered_as: tuple[str, ...] = ()
    scripted: bool = False


def judgement(judge: ModelJudge, guideline: Guideline, dialogue: Dialogue, *, below_half: BelowHalf) -> Flow[Judgement]:
    """Let a judge read a dialogue until its votes are settled.

    Each reading is asked for on its own: it does not see the others. What came
    as a reply is read strictly; a reply that cannot be read is asked for once
    more, and is a vote for "unparseable" if that does not help.

    Args:
        judge: Which model, and how often it reads.
        guideline: What is asked.
        dialogue: What it is asked about.
        below_half: Probability that a Beta variable lies below one half, for votes that stop by their price.
    """
    votes: list[Vote] = []
    replies: list[Reply] = []
    most = judge.voting.most  # with the last vote nobody has to look where they stand
    while not votes or (len(votes) < most and not is_settled(judge.voting, races(votes, guideline), below_half)):
        vote, heard = yield from _reading(judge, guideline, dialogue, len(votes) + 1)
        votes.append(vote)
        replies += heard
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
    asked = AskModel(
        model=judge.model,
        messages=messages,
        party=FailureSource.JUDGE,
        replicate=replicate,
        answer_schema=answer_schema(guideline, arrangement),
        may_be_cached=dialogue.held_by is not TesterType.PERSON,
    )
    reply = yield asked
    replies = [reply]
    verdict = _read(reply, guideline, dialogue, replicate, control)
    if verdict.problem and reply.finish != CONTENT_FILTER:
        problem = "it was cut off before its end" if reply.finish == CUT_OFF else verdict.problem
        again = asked_again(messages, reply.text, problem)
        # Without the form: a judge that will not judge has no other way to say so.
        reply = yield replace(asked, messages=again, answer_schema=None)
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
    """Return a verdict that could not be read with the reason why, where the replies tell it."""
    refusal = next((reply.text for reply in reversed(replies) if declines(reply.text)), "")
    if refusal:
        return Verdict(answers=unread(guideline, Outcome.REFUSED, raw=refusal, replicate=replicate))
    if replies[-1].finish == CUT_OFF:
        return replace(verdict, answers=tuple(replace(one, reasoning=_SHORTENED) for one in verdict.answers))
    return verdict


def _read(reply: Reply, guideline: Guideline, dialogue: Dialogue, replicate: int, control: ControlQuestion) -> Verdict:
    if reply.finish == CONTENT_FILTER:
        refused = unread(guideline, Outcome.REFUSED, reasoning=_FILTERED, replicate=replicate)
        return Verdict(answers=refused)
    return read_verdict(reply.text, guideline, dialogue, replicate=replicate, control=control)
