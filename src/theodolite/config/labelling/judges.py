"""Judges as domain records: models that vote or not, rules on words, Python functions, panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from theodolite.assessment.signs import answered_by_signs
from theodolite.config.applications import code_hash
from theodolite.config.expressions import expression_problem
from theodolite.config.labelling.annotators import GuidelineRegistry, OneLabel, answered_question
from theodolite.config.labelling.guidelines import guideline_of
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.specs.base import as_list
from theodolite.config.specs.guidelines import GuidelineSpec, JudgeSpec, VotesSpec, WordRuleSpec
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
    entry: Entry[JudgeSpec],
    registry: GuidelineRegistry,
    context: LoadContext,
    models: tuple[str, ...],
    asked: Sequence[str],
) -> list[Annotator]:
    """Return the annotators that an entry describes: one, or one for each of its `guidelines`.

    Args:
        entry: The judge.
        registry: All guidelines.
        context: Takes the faults.
        models: Names of the study's models.
        asked: Names of the guidelines that `all` stands for.
    """
    named = as_list(entry.spec.guidelines)
    if not named:
        return _members(entry, registry, context, models, key="guideline")
    if named == [ALL] and not asked:
        message = f"judge `{entry.name}` labels by `all` guidelines, but no scenario names one and the study has none"
        context.diagnostics.add(entry.fault("guidelines", message=message))
    names = asked if named == [ALL] else named
    each = [_by_one(entry, name) for name in dict.fromkeys(names)]
    return [judge for one in each for judge in _members(one, registry, context, models, key="guidelines")]


def _by_one(entry: Entry[JudgeSpec], guideline: str) -> Entry[JudgeSpec]:
    spec = entry.spec.model_copy(update={"guidelines": None, "guideline": guideline})
    return replace(entry, name=f"{entry.name}-{guideline}", spec=spec)


def _members(
    entry: Entry[JudgeSpec], registry: GuidelineRegistry, context: LoadContext, models: tuple[str, ...], *, key: str
) -> list[Annotator]:
    """Return one judge, or one for each of several models: a panel that is called like the entry."""
    spec = entry.spec
    for place, name in enumerate(spec.models):
        if spec.models.index(name) != place:
            message = f"judge `{entry.name}` names the model `{name}` twice; it would be one annotator twice"
            context.diagnostics.add(entry.fault("models", place, message=message))
        elif name not in models:
            message = f"judge `{entry.name}` names a model `{name}` that the study does not have"
            context.diagnostics.add(entry.fault("models", place, message=message + did_you_mean(name, models)))
    if not spec.models:
        one = _judge(entry, registry, context, models, key=key)
        return [one] if one else []
    panel = spec.panel or entry.name
    found = []
    for name in dict.fromkeys(spec.models):
        own = spec.model_copy(update={"models": [], "model": name, "panel": panel})
        seat = replace(entry, name=f"{entry.name}-{name}", spec=own)
        found.append(_judge(seat, registry, context, (*models, name), key=key, worded=entry))
    return [judge for judge in found if judge is not None]


def _judge(
    entry: Entry[JudgeSpec],
    registry: GuidelineRegistry,
    context: LoadContext,
    models: tuple[str, ...],
    *,
    key: str,
    worded: Entry[JudgeSpec] | None = None,
) -> Annotator | None:
    """Return one judge; None and faults where the entry describes none.

    Args:
        entry: The judge.
        registry: All guidelines.
        context: Takes the faults.
        models: Names of the study's models.
        key: Key that names the guideline.
        worded: Whose own wording the guideline is, where several judges share it.
    """
    spec = entry.spec
    if spec.model and spec.model not in models:
        message = f"judge `{entry.name}` names a model `{spec.model}` that the study does not have"
        context.diagnostics.add(entry.fault("model", message=message + did_you_mean(spec.model, models)))
    guideline = (
        _own_wording(worded or entry, registry, context) if spec.ask else registry.named(spec.guideline, entry, key)
    )
    if guideline is None:
        return None
    return Annotator(
        name=entry.name,
        kind=AnnotatorKind.MODEL if spec.rule is None else AnnotatorKind.RULE,
        guideline=guideline.name,
        labelling=_labelling(entry, guideline, context),
        title=spec.title,
        panel=spec.panel,
    )


def _labelling(entry: Entry[JudgeSpec], guideline: Guideline, context: LoadContext) -> Labelling:
    spec = entry.spec
    if spec.rule == "packet":
        return _packet_rule(entry, guideline, context)
    if spec.rule is not None:
        return _word_rule(entry, spec.rule, guideline, context)
    if spec.callable is not None:
        sha256 = code_hash(entry, "callable", spec.callable, "function", context)
        timeout = spec.timeout or DEFAULT_TIMEOUT_S
        env = tuple(spec.env)
        return PythonLabeller(target=spec.callable, edition=spec.version, sha256=sha256, timeout_s=timeout, env=env)
    voting = _voting(entry, context)
    if voting.most > 1 and any(
        question.scale.kind is ScaleKind.DECIMALS for question in guideline.instrument.questions
    ):
        message = (
            f"guideline `{guideline.name}` is answered by decimals, and no two votes need be equal; take `votes` out"
        )
        context.diagnostics.add(entry.fault("votes", message=message, at_key=True))
    return ModelJudge(model=spec.model, voting=voting)


def _voting(entry: Entry[JudgeSpec], context: LoadContext) -> Voting:
    """Return how often a judge reads; once, and a fault, where what is written cannot be done."""
    votes = entry.spec.votes
    if votes is None:
        return ONE_READING
    spec = votes if isinstance(votes, VotesSpec) else VotesSpec(most=votes)
    most = spec.most or _USUAL_MOST[spec.rule]
    lead, price, prior = spec.lead, spec.price, spec.prior
    is_misread = (*entry.path, "votes", "rule") in entry.source.dropped
    given = {"lead": lead, "price": price, "prior": prior}
    for key, rule in (("lead", StopRule.LEAD), ("price", StopRule.BAYES), ("prior", StopRule.BAYES)):
        if given[key] is not None and spec.rule is not rule and not is_misread:
            message = (
                f"`{key}` belongs to the rule `{rule.value}`; the rule of judge `{entry.name}` is `{spec.rule.value}`"
            )
            context.diagnostics.add(entry.fault("votes", key, message=message))
    if spec.rule is StopRule.LEAD and (lead or _LEAD) > most:
        message = f"no answer can be {lead or _LEAD} ahead in {most} votes; `lead` is at most `most`"
        context.diagnostics.add(entry.fault("votes", message=message, at_key=True))
        return ONE_READING
    return Voting(
        rule=spec.rule, most=most, lead=lead or _LEAD, price=price or Voting().price, prior=prior or Voting().prior
    )


def _own_wording(entry: Entry[JudgeSpec], registry: GuidelineRegistry, context: LoadContext) -> Guideline | None:
    spec = entry.spec
    own = GuidelineSpec(ask=spec.ask, defect=spec.defect, scale=spec.scale, orientation=spec.orientation)
    worded = Entry(name=entry.name, spec=own, source=entry.source, path=entry.path)
    guideline = guideline_of(worded, context, origin=Origin.OWN_WORDING)
    if guideline is not None:
        registry.add(guideline)
    return guideline


def _packet_rule(entry: Entry[JudgeSpec], guideline: Guideline, context: LoadContext) -> PacketRule:
    questions, answered = guideline.instrument.questions, answered_by_signs(guideline)
    if not answered:
        names = ", ".join(f"`{question.name}`" for question in questions)
        message = (
            "`rule: packet` answers `released` and `withheld`, or a first question asked once a dialogue that a defect"
            f" rule decides; guideline `{guideline.name}` asks {names}"
        )
        context.diagnostics.add(entry.fault("rule", message=message))
    return PacketRule(questions=tuple(one.name for one in answered) if 0 < len(answered) < len(questions) else ())


def _word_rule(entry: Entry[JudgeSpec], spec: WordRuleSpec, guideline: Guideline, context: LoadContext) -> WordRule:
    if not (spec.any or spec.unwanted):
        message = f"the rule of judge `{entry.name}` has no words to look for; it needs `any`, `not` or both"
        context.diagnostics.add(entry.fault("rule", message=message, at_key=True))
    for key, patterns in (("any", spec.any), ("not", spec.unwanted)):
        for place, pattern in enumerate(patterns):
            if problem := expression_problem(pattern):
                context.diagnostics.add(entry.fault("rule", key, place, message=problem))
    subject = f"the rule of judge `{entry.name}` gives one label"
    label = OneLabel(entry=entry, keys=("rule", "question"), question=spec.question, subject=subject)
    question = answered_question(label, guideline, context)
    scale = (question or guideline.question).scale
    for key, value in (("then", spec.then), ("else", spec.otherwise)):
        if question is not None and not scale.admits(value):
            near = did_you_mean(value, scale.categories) or f"; labels are {', '.join(scale.categories)}"
            message = f"`{key}` of judge `{entry.name}` is `{value}`, no label of guideline `{guideline.name}`{near}"
            context.diagnostics.add(entry.fault("rule", key, message=message))
    return WordRule(
        any_of=tuple(spec.any),
        then=spec.then,
        otherwise=spec.otherwise,
        none_of=tuple(spec.unwanted),
        where=spec.where,
        question=spec.question,
    )
