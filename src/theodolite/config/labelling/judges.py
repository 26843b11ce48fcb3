"""Judges as domain records: models that vote or not, rules on words, Python functions, panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from theodolite.assessment.signs import answered_by_signs
from theodolite.config.applications import code_hash
from theodolite.config.expressions import expression_problem
from theodolite.config.labelling.annotators import GuidelineShelf, OneLabel, answered_question
from theodolite.config.labelling.guidelines import guideline_of
from theodolite.config.lookup import Desk, Entry
from theodolite.config.shapes.base import as_list
from theodolite.config.shapes.guidelines import GuidelineShape, JudgeShape, VotesShape, WordsRuleShape
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import (
    ONE_READING,
    Annotator,
    Labelling,
    ModelJudge,
    PacketRule,
    PythonLabeller,
    StopRule,
    Voting,
    WordRule,
)
from theodolite.domain.fault import did_you_mean
from theodolite.domain.guideline import Guideline, Origin
from theodolite.domain.instrument import ScaleKind

DEFAULT_TIMEOUT_S = 60.0
"""Patience for a labelling function that says nothing else; seconds."""

_USUAL_MOST = {StopRule.FIXED: 5, StopRule.CURTAILED: 5, StopRule.LEAD: 5, StopRule.BAYES: 15}
_LEAD = 2

ALL = "all"
"""What a judge writes under `guidelines` to label by all that the study's scenarios ask for."""


def judges_of(
    entry: Entry[JudgeShape], shelf: GuidelineShelf, desk: Desk, models: tuple[str, ...], asked: Sequence[str]
) -> list[Annotator]:
    """Return the annotators that an entry describes: one, or one for each of its `guidelines`.

    Args:
        entry: The judge.
        shelf: All guidelines.
        desk: Takes the faults.
        models: Names of the study's models.
        asked: Names of the guidelines that `all` stands for.
    """
    named = as_list(entry.shape.guidelines)
    if not named:
        return _members(entry, shelf, desk, models, key="guideline")
    if named == [ALL] and not asked:
        message = f"judge `{entry.name}` labels by `all` guidelines, but no scenario names one and the study has none"
        desk.complaints.add(entry.fault("guidelines", message=message))
    names = asked if named == [ALL] else named
    each = [_by_one(entry, name) for name in dict.fromkeys(names)]
    return [judge for one in each for judge in _members(one, shelf, desk, models, key="guidelines")]


def _by_one(entry: Entry[JudgeShape], guideline: str) -> Entry[JudgeShape]:
    shape = entry.shape.model_copy(update={"guidelines": None, "guideline": guideline})
    return replace(entry, name=f"{entry.name}-{guideline}", shape=shape)


def _members(
    entry: Entry[JudgeShape], shelf: GuidelineShelf, desk: Desk, models: tuple[str, ...], *, key: str
) -> list[Annotator]:
    """Return one judge, or one for each of several models: a panel that is called like the entry."""
    shape = entry.shape
    for place, name in enumerate(shape.models):
        if shape.models.index(name) != place:
            message = f"judge `{entry.name}` names the model `{name}` twice; it would be one annotator twice"
            desk.complaints.add(entry.fault("models", place, message=message))
        elif name not in models:
            message = f"judge `{entry.name}` names a model `{name}` that the study does not have"
            desk.complaints.add(entry.fault("models", place, message=message + did_you_mean(name, models)))
    if not shape.models:
        one = _judge(entry, shelf, desk, models, key=key)
        return [one] if one else []
    panel = shape.panel or entry.name
    found = []
    for name in dict.fromkeys(shape.models):
        own = shape.model_copy(update={"models": [], "model": name, "panel": panel})
        seat = replace(entry, name=f"{entry.name}-{name}", shape=own)
        found.append(_judge(seat, shelf, desk, (*models, name), key=key, worded=entry))
    return [judge for judge in found if judge is not None]


def _judge(
    entry: Entry[JudgeShape],
    shelf: GuidelineShelf,
    desk: Desk,
    models: tuple[str, ...],
    *,
    key: str,
    worded: Entry[JudgeShape] | None = None,
) -> Annotator | None:
    """Return one judge; None and faults where the entry describes none.

    Args:
        entry: The judge.
        shelf: All guidelines.
        desk: Takes the faults.
        models: Names of the study's models.
        key: Key that names the guideline.
        worded: Whose own wording the guideline is, where several judges share it.
    """
    shape = entry.shape
    if shape.model and shape.model not in models:
        message = f"judge `{entry.name}` names a model `{shape.model}` that the study does not have"
        desk.complaints.add(entry.fault("model", message=message + did_you_mean(shape.model, models)))
    guideline = _own_wording(worded or entry, shelf, desk) if shape.ask else shelf.named(shape.guideline, entry, key)
    if guideline is None:
        return None
    return Annotator(
        name=entry.name,
        kind=AnnotatorKind.MODEL if shape.rule is None else AnnotatorKind.RULE,
        guideline=guideline.name,
        labelling=_labelling(entry, guideline, desk),
        title=shape.title,
        panel=shape.panel,
    )


def _labelling(entry: Entry[JudgeShape], guideline: Guideline, desk: Desk) -> Labelling:
    shape = entry.shape
    if shape.rule == "packet":
        return _packet_rule(entry, guideline, desk)
    if shape.rule is not None:
        return _word_rule(entry, shape.rule, guideline, desk)
    if shape.callable is not None:
        sha256 = code_hash(entry, "callable", shape.callable, "function", desk)
        timeout = shape.timeout or DEFAULT_TIMEOUT_S
        env = tuple(shape.env)
        return PythonLabeller(target=shape.callable, edition=shape.version, sha256=sha256, timeout_s=timeout, env=env)
    voting = _voting(entry, desk)
    if voting.most > 1 and any(
        question.scale.kind is ScaleKind.DECIMALS for question in guideline.instrument.questions
    ):
        message = (
            f"guideline `{guideline.name}` is answered by decimals, and no two votes need be equal; take `votes` out"
        )
        desk.complaints.add(entry.fault("votes", message=message, at_key=True))
    return ModelJudge(model=shape.model, voting=voting)


def _voting(entry: Entry[JudgeShape], desk: Desk) -> Voting:
    """Return how often a judge reads; once, and a fault, where what is written cannot be done."""
    votes = entry.shape.votes
    if votes is None:
        return ONE_READING
    shape = votes if isinstance(votes, VotesShape) else VotesShape(most=votes)
    most = shape.most or _USUAL_MOST[shape.rule]
    lead, price, prior = shape.lead, shape.price, shape.prior
    is_misread = (*entry.path, "votes", "rule") in entry.source.dropped
    given = {"lead": lead, "price": price, "prior": prior}
    for key, rule in (("lead", StopRule.LEAD), ("price", StopRule.BAYES), ("prior", StopRule.BAYES)):
        if given[key] is not None and shape.rule is not rule and not is_misread:
            message = (
                f"`{key}` belongs to the rule `{rule.value}`; the rule of judge `{entry.name}` is `{shape.rule.value}`"
            )
            desk.complaints.add(entry.fault("votes", key, message=message))
    if shape.rule is StopRule.LEAD and (lead or _LEAD) > most:
        message = f"no answer can be {lead or _LEAD} ahead in {most} votes; `lead` is at most `most`"
        desk.complaints.add(entry.fault("votes", message=message, at_key=True))
        return ONE_READING
    return Voting(
        rule=shape.rule, most=most, lead=lead or _LEAD, price=price or Voting().price, prior=prior or Voting().prior
    )


def _own_wording(entry: Entry[JudgeShape], shelf: GuidelineShelf, desk: Desk) -> Guideline | None:
    shape = entry.shape
    own = GuidelineShape(ask=shape.ask, defect=shape.defect, scale=shape.scale, orientation=shape.orientation)
    worded = Entry(name=entry.name, shape=own, source=entry.source, path=entry.path)
    guideline = guideline_of(worded, desk, origin=Origin.OWN_WORDING)
    if guideline is not None:
        shelf.add(guideline)
    return guideline


def _packet_rule(entry: Entry[JudgeShape], guideline: Guideline, desk: Desk) -> PacketRule:
    questions, answered = guideline.instrument.questions, answered_by_signs(guideline)
    if not answered:
        names = ", ".join(f"`{question.name}`" for question in questions)
        message = (
            "`rule: packet` answers `released` and `withheld`, or a first question asked once a dialogue that a defect"
            f" rule decides; guideline `{guideline.name}` asks {names}"
        )
        desk.complaints.add(entry.fault("rule", message=message))
    return PacketRule(questions=tuple(one.name for one in answered) if 0 < len(answered) < len(questions) else ())


def _word_rule(entry: Entry[JudgeShape], shape: WordsRuleShape, guideline: Guideline, desk: Desk) -> WordRule:
    if not (shape.any or shape.unwanted):
        message = f"the rule of judge `{entry.name}` has no words to look for; it needs `any`, `not` or both"
        desk.complaints.add(entry.fault("rule", message=message, at_key=True))
    for key, patterns in (("any", shape.any), ("not", shape.unwanted)):
        for place, pattern in enumerate(patterns):
            if problem := expression_problem(pattern):
                desk.complaints.add(entry.fault("rule", key, place, message=problem))
    subject = f"the rule of judge `{entry.name}` gives one label"
    label = OneLabel(entry=entry, keys=("rule", "question"), question=shape.question, subject=subject)
    question = answered_question(label, guideline, desk)
    scale = (question or guideline.question).scale
    for key, value in (("then", shape.then), ("else", shape.otherwise)):
        if question is not None and not scale.admits(value):
            near = did_you_mean(value, scale.categories) or f"; labels are {', '.join(scale.categories)}"
            message = f"`{key}` of judge `{entry.name}` is `{value}`, no label of guideline `{guideline.name}`{near}"
            desk.complaints.add(entry.fault("rule", key, message=message))
    return WordRule(
        any_of=tuple(shape.any),
        then=shape.then,
        otherwise=shape.otherwise,
        none_of=tuple(shape.unwanted),
        where=shape.where,
        question=shape.question,
    )
