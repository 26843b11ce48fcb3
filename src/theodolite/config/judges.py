"""The `judges` and `correction` sections: models, rules and functions that label dialogues."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, PositiveFloat, Tag, model_validator

from theodolite.assessment.annotating import TOLERANCE, answered_by_signs
from theodolite.assessment.json_schema import schema_problem
from theodolite.config.annotators import OneLabel, answered_question
from theodolite.config.applications import code_hash, is_plugin_name
from theodolite.config.guidelines import GuidelineRegistry, GuidelineSpec, guideline_to_domain
from theodolite.config.load_context import Entry, LoadContext, no_plugin_part
from theodolite.config.questions import ScaleForm
from theodolite.config.validation import KIND, Filled, OneOrMore, Spec, Word, as_list, expression_problem, form_of
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import (
    MOST_VOTES,
    ONE_READING,
    Annotator,
    HandLabels,
    Labelling,
    ModelJudge,
    PacketRule,
    PythonLabeller,
    RecordedLabels,
    Side,
    StopRule,
    TextCheck,
    Voting,
    WordRule,
)
from theodolite.domain.choices import MeanCorrection, RateCorrection
from theodolite.domain.errors import did_you_mean
from theodolite.domain.guideline import Guideline, Origin
from theodolite.domain.identity import canonical_json
from theodolite.domain.instrument import Orientation, ScaleKind
from theodolite.domain.study import Study

if TYPE_CHECKING:
    from theodolite.domain.study_parts import Calibration, CorrectionChoice


_COMPARISONS = frozenset(TextCheck)
"""Keys of a rule that compares the response with a text."""


def _compares(rule: Any) -> bool:
    return isinstance(rule, Mapping) and not _COMPARISONS.isdisjoint(rule)


class WordRuleSpec(Spec):
    """A rule on the text of a dialogue."""

    any: list[Filled] = Field(default_factory=list)
    """Regular expressions, at least one must match; case is ignored."""
    unwanted: list[Filled] = Field(default_factory=list, alias="not")
    """Regular expressions, none may match in the same turn; without `any`: in any turn."""
    where: Side = Side.RESPONSE
    """Side of a turn to search: `prompt`, `response` or `both`."""
    question: str = ""
    """Question that the rule answers, for a guideline with several."""
    equals: Word = ""
    """Instead of expressions: the text that the last response must equal, e.g. `{{ expected }}`."""
    contains: Word = ""
    """Instead of expressions: the text that the last response must contain; case is ignored."""
    number: Word = ""
    """Instead of expressions: the number that the last response must contain."""
    tolerance: Word = ""
    """With `number`: the maximum difference, e.g. `0.5`, or `5%` of the expected number."""
    matches: Word = ""
    """Instead of expressions: the regular expression that must occur in the last response, e.g. `{{ expected }}`."""
    json_schema: str = ""
    """Instead of expressions: file with a JSON Schema that the JSON of the last response must match."""
    then: Word = ""
    """Label if the rule matches; with a comparison such as `equals`: `yes`."""
    otherwise: Word = Field(default="", alias="else")
    """Label otherwise; with a comparison such as `equals`: `no`."""

    @property
    def check(self) -> tuple[TextCheck, str] | None:
        """Comparison of the last response, with its text; None for expressions."""
        return next(iter(self._checks()), None)

    def _checks(self) -> list[tuple[TextCheck, str]]:
        return [(check, text) for check in TextCheck if (text := getattr(self, check.value))]

    @model_validator(mode="before")
    @classmethod
    def _usual_labels(cls, value: Any) -> Any:
        return {"then": "yes", "else": "no", **value} if _compares(value) else value

    @model_validator(mode="after")
    def _one_form(self) -> WordRuleSpec:
        checks = self._checks()
        if len(checks) > 1:
            message = f"has {' and '.join(f'`{check.value}`' for check, _ in checks)}; use a judge for each"
            raise ValueError(message)
        if self.check and (self.any or self.unwanted):
            message = f"has expressions beside `{checks[0][0].value}`; use a judge for each"
            raise ValueError(message)
        if self.tolerance and not (self.number and TOLERANCE.fullmatch(self.tolerance)):
            message = "has a `tolerance` that cannot be used: it belongs to `number`, e.g. `0.5` or `5%`"
            raise ValueError(message)
        if not (self.then and self.otherwise):
            message = "needs `then` and `else`, the labels if the rule matches and otherwise"
            raise ValueError(message)
        return self


RuleForm: TypeAlias = Annotated[
    Annotated[Literal["packet"], Tag(KIND + "text")] | Annotated[WordRuleSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""`packet` for the signs of the scenario's test packet, or the rule's own expressions."""


_AGREES = "Does the response agree with the expected text?"
"""Question of a rule that compares the response and names no guideline."""


class VotesSpec(Spec):
    """Number of times a judge reads one dialogue before a majority vote."""

    rule: StopRule = StopRule.CURTAILED
    """Stopping rule: `fixed`, `curtailed` (majority decided), `lead` or `bayes` (price per call)."""
    most: int | None = Field(default=None, ge=2, le=MOST_VOTES)
    """Maximum number of readings; default: 5, or 15 with `bayes`."""
    lead: int | None = Field(default=None, ge=1)
    """With `lead`: number of votes by which one answer must lead; default: 2."""
    price: float | None = Field(default=None, gt=0, lt=1)
    """With `bayes`: cost of a call relative to a wrong label (cost 1); 0.005 by default."""
    prior: tuple[PositiveFloat, PositiveFloat] | None = None
    """With `bayes`: a and b of the Beta prior of a dialogue's share of defect votes; default: 0.5 and 0.5."""


VotesForm: TypeAlias = Annotated[
    Annotated[Annotated[int, Field(ge=2, le=MOST_VOTES)], Tag(KIND + "text")]
    | Annotated[VotesSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""A maximum number of readings, or a stopping rule."""


class JudgeSpec(Spec):
    """A model, a rule or a function that labels dialogues."""

    guideline: str = ""
    """Name of the guideline: in this file, in the study's folder, or shipped."""
    guidelines: OneOrMore | None = None
    """Several guidelines, or `all`: one annotator for each, named `<judge>-<guideline>`."""
    ask: str = ""
    """A question, instead of a guideline."""
    defect: str = ""
    """With `ask`: condition of a defect, e.g. `== no`."""
    scale: ScaleForm | None = None
    """With `ask`: possible values; default: yes and no."""
    orientation: Orientation = Orientation.UNSTATED
    """With `ask`: bad end of the scale."""
    model: str = ""
    """Name of the model under `models`."""
    models: list[Filled] = Field(default_factory=list)
    """Several models: one annotator for each, shown side by side as a panel, named `<judge>-<model>`."""
    votes: VotesForm | None = None
    """Maximum number of readings of each dialogue, with a majority vote, or a stopping rule."""
    rule: RuleForm | None = None
    """Instead of a model: a rule on the text of the responses, or `packet` for the signs of each scenario."""
    python: Filled | None = None
    """Instead of a model: `module:function`, `file.py:function`, or a judge of a plugin, e.g. `our-house/tone`."""
    version: Word = ""
    """With `python`: version declared by its author; a new version is a new instrument."""
    timeout: float | None = Field(default=None, gt=0)
    """With `python`: timeout for one dialogue in seconds; default: 60."""
    env: list[Filled] = Field(default_factory=list)
    """With `python`: further environment variables for the function, in addition to `PATH` etc."""
    panel: str = ""
    """Name of its panel of judges: shown side by side, never merged."""
    title: str = ""
    """Name in reports."""

    @model_validator(mode="before")
    @classmethod
    def _usual_question(cls, value: Any) -> Any:
        if not (isinstance(value, Mapping) and _compares(value.get("rule"))):
            return value
        is_named = not {"guideline", "guidelines", "ask"}.isdisjoint(value)
        return value if is_named else {"ask": _AGREES, "defect": "== no", **value}

    @model_validator(mode="after")
    def _one_form(self) -> JudgeSpec:
        if sum(map(bool, (self.guideline, self.guidelines, self.ask))) != 1:
            message = "needs either `guideline`, several `guidelines` or a question of its own (`ask`), and one alone"
            raise ValueError(message)
        if self.ask and not self.defect:
            message = 'asks a question of its own and needs `defect` beside it, e.g. `defect: "== no"`'
            raise ValueError(message)
        if sum(map(bool, (self.model, self.models, self.rule, self.python))) != 1:
            message = "needs either `model`, several `models`, `rule` or `python`, and one alone"
            raise ValueError(message)
        if self.python and not self.version and not is_plugin_name(self.python):
            message = 'is a function and needs `version`, which its author raises when its labels change, e.g. `"1.0"`'
            raise ValueError(message)
        return self._no_stray_keys()

    def _no_stray_keys(self) -> JudgeSpec:
        if not self.python and (self.version or self.timeout or self.env):
            message = "has `version`, `timeout` or `env`, which belong to `python`"
            raise ValueError(message)
        if self.votes is not None and not (self.model or self.models):
            message = "has `votes`, which only a model can give: a rule or a function says the same each time"
            raise ValueError(message)
        return self


DEFAULT_TIMEOUT_S = 60.0
"""Default time limit of a labelling function; seconds."""

_USUAL_MOST = {StopRule.FIXED: 5, StopRule.CURTAILED: 5, StopRule.LEAD: 5, StopRule.BAYES: 15}

_LEAD = 2

ALL = "all"
"""Value of a judge's `guidelines` for all guidelines of the study's scenarios."""


def judges_to_domain(
    entry: Entry[JudgeSpec],
    registry: GuidelineRegistry,
    context: LoadContext,
    models: tuple[str, ...],
    requested: Sequence[str],
) -> list[Annotator]:
    """Return the annotators that an entry describes: one, or one for each of its `guidelines`.

    Args:
        entry: The judge.
        registry: All guidelines.
        context: Collects the errors.
        models: Names of the study's models.
        requested: Names of the guidelines that `all` includes.
    """
    named = as_list(entry.spec.guidelines)
    if not named:
        return _members(entry, registry, context, models, key="guideline")
    if named == [ALL] and not requested:
        message = f"judge `{entry.name}` labels by `all` guidelines, but no scenario names one and the study has none"
        context.diagnostics.add(entry.diagnostic("guidelines", message=message))
    names = requested if named == [ALL] else named
    item = [_by_one(entry, name) for name in dict.fromkeys(names)]
    return [judge for element in item for judge in _members(element, registry, context, models, key="guidelines")]


def _by_one(entry: Entry[JudgeSpec], guideline: str) -> Entry[JudgeSpec]:
    spec = entry.spec.model_copy(update={"guidelines": None, "guideline": guideline})
    return replace(entry, name=f"{entry.name}-{guideline}", spec=spec)


def _members(
    entry: Entry[JudgeSpec], registry: GuidelineRegistry, context: LoadContext, models: tuple[str, ...], *, key: str
) -> list[Annotator]:
    """Return one judge, or one for each of several models: a panel with the name of the entry."""
    spec = entry.spec
    for index, name in enumerate(spec.models):
        if spec.models.index(name) != index:
            message = f"judge `{entry.name}` names the model `{name}` twice; it would be one annotator twice"
            context.diagnostics.add(entry.diagnostic("models", index, message=message))
        elif name not in models:
            message = f"judge `{entry.name}` names a model `{name}` that the study does not have"
            context.diagnostics.add(entry.diagnostic("models", index, message=message + did_you_mean(name, models)))
    if not spec.models:
        item = _judge(entry, registry, context, models, key=key)
        return [item] if item else []
    panel = spec.panel or entry.name
    result = []
    for name in dict.fromkeys(spec.models):
        own = spec.model_copy(update={"models": [], "model": name, "panel": panel})
        member = replace(entry, name=f"{entry.name}-{name}", spec=own)
        result.append(_judge(member, registry, context, (*models, name), key=key, shared=entry))
    return [judge for judge in result if judge is not None]


def _judge(
    entry: Entry[JudgeSpec],
    registry: GuidelineRegistry,
    context: LoadContext,
    models: tuple[str, ...],
    *,
    key: str,
    shared: Entry[JudgeSpec] | None = None,
) -> Annotator | None:
    """Return one judge; None and errors if the entry describes none.

    Args:
        entry: The judge.
        registry: All guidelines.
        context: Collects the errors.
        models: Names of the study's models.
        key: Key that names the guideline.
        shared: Judge with its own wording of the guideline, if several share it.
    """
    spec = entry.spec
    if spec.model and spec.model not in models:
        message = f"judge `{entry.name}` names a model `{spec.model}` that the study does not have"
        context.diagnostics.add(entry.diagnostic("model", message=message + did_you_mean(spec.model, models)))
    guideline = (
        _own_wording(shared or entry, registry, context) if spec.ask else registry.named(spec.guideline, entry, key)
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


def _function(entry: Entry[JudgeSpec], target: str, context: LoadContext) -> PythonLabeller:
    """Return the function of a judge; unless stated, its version is that of the plugin."""
    spec, version = entry.spec, entry.spec.version
    if is_plugin_name(target):
        named = context.resolver.judges.get(target)
        if named is None:
            message = no_plugin_part("judge", target, context.resolver.judges)
            context.diagnostics.add(entry.diagnostic("python", message=message))
            return PythonLabeller(target=target, version=version, sha256="", timeout_s=DEFAULT_TIMEOUT_S)
        target, version = named[0], version or named[1]
    sha256 = code_hash(entry, "python", target, "function", context)
    timeout = spec.timeout or DEFAULT_TIMEOUT_S
    return PythonLabeller(target=target, version=version, sha256=sha256, timeout_s=timeout, env=tuple(spec.env))


def _labelling(entry: Entry[JudgeSpec], guideline: Guideline, context: LoadContext) -> Labelling:
    spec = entry.spec
    if spec.rule == "packet":
        return _packet_rule(entry, guideline, context)
    if spec.rule is not None:
        return _word_rule(entry, spec.rule, guideline, context)
    if spec.python is not None:
        return _function(entry, spec.python, context)
    voting = _voting(entry, context)
    if voting.most > 1 and any(
        question.scale.kind is ScaleKind.DECIMALS for question in guideline.instrument.questions
    ):
        message = (
            f"guideline `{guideline.name}` is answered by decimals, and no two votes need be equal; take `votes` out"
        )
        context.diagnostics.add(entry.diagnostic("votes", message=message, at_key=True))
    return ModelJudge(model=spec.model, voting=voting)


def _voting(entry: Entry[JudgeSpec], context: LoadContext) -> Voting:
    """Return the number of a judge's readings; 1 and an error if the entry is invalid."""
    votes = entry.spec.votes
    if votes is None:
        return ONE_READING
    spec = votes if isinstance(votes, VotesSpec) else VotesSpec(most=votes)
    most = spec.most or _USUAL_MOST[spec.rule]
    lead, price, prior = spec.lead, spec.price, spec.prior
    is_misread = (*entry.path, "votes", "rule") in entry.source.dropped
    answers = {"lead": lead, "price": price, "prior": prior}
    for key, rule in (("lead", StopRule.LEAD), ("price", StopRule.BAYES), ("prior", StopRule.BAYES)):
        if answers[key] is not None and spec.rule is not rule and not is_misread:
            message = (
                f"`{key}` belongs to the rule `{rule.value}`; the rule of judge `{entry.name}` is `{spec.rule.value}`"
            )
            context.diagnostics.add(entry.diagnostic("votes", key, message=message))
    if spec.rule is StopRule.LEAD and (lead or _LEAD) > most:
        message = f"no answer can be {lead or _LEAD} ahead in {most} votes; `lead` is at most `most`"
        context.diagnostics.add(entry.diagnostic("votes", message=message, at_key=True))
        return ONE_READING
    return Voting(
        rule=spec.rule, most=most, lead=lead or _LEAD, price=price or Voting().price, prior=prior or Voting().prior
    )


def _own_wording(entry: Entry[JudgeSpec], registry: GuidelineRegistry, context: LoadContext) -> Guideline | None:
    spec = entry.spec
    own = GuidelineSpec(ask=spec.ask, defect=spec.defect, scale=spec.scale, orientation=spec.orientation)
    with_wording = Entry(name=entry.name, spec=own, source=entry.source, path=entry.path)
    guideline = guideline_to_domain(with_wording, context, origin=Origin.OWN_WORDING)
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
        context.diagnostics.add(entry.diagnostic("rule", message=message))
    return PacketRule(questions=tuple(item.name for item in answered) if 0 < len(answered) < len(questions) else ())


def _word_rule(entry: Entry[JudgeSpec], spec: WordRuleSpec, guideline: Guideline, context: LoadContext) -> WordRule:
    if not (spec.any or spec.unwanted or spec.check):
        message = f"the rule of judge `{entry.name}` has no words to look for; it needs `any`, `not` or both"
        context.diagnostics.add(entry.diagnostic("rule", message=message, at_key=True))
    for key, patterns in (("any", spec.any), ("not", spec.unwanted)):
        for index, pattern in enumerate(patterns):
            if problem := expression_problem(pattern):
                context.diagnostics.add(entry.diagnostic("rule", key, index, message=problem))
    subject = f"the rule of judge `{entry.name}` gives one label"
    label = OneLabel(entry=entry, keys=("rule", "question"), question=spec.question, subject=subject)
    question = answered_question(label, guideline, context)
    scale = (question or guideline.question).scale
    for key, value in (("then", spec.then), ("else", spec.otherwise)):
        if question is not None and not scale.admits(value):
            near = did_you_mean(value, scale.categories) or f"; labels are {', '.join(scale.categories)}"
            message = f"`{key}` of judge `{entry.name}` is `{value}`, no label of guideline `{guideline.name}`{near}"
            context.diagnostics.add(entry.diagnostic("rule", key, message=message))
    return WordRule(
        any_of=tuple(spec.any),
        then=spec.then,
        otherwise=spec.otherwise,
        none_of=tuple(spec.unwanted),
        where=spec.where,
        question=spec.question,
        check=spec.check[0] if spec.check else None,
        text=_text_of(entry, spec, context),
        tolerance=spec.tolerance,
    )


def _text_of(entry: Entry[JudgeSpec], spec: WordRuleSpec, context: LoadContext) -> str:
    """Return the comparison text of a rule; for a schema, the content of its file."""
    match spec.check:
        case None:
            return ""
        case (TextCheck.JSON_SCHEMA, file):
            return _schema_text(entry, file, context)
        case (TextCheck.MATCHES, pattern):
            if (problem := expression_problem(pattern)) and "{{" not in pattern:
                context.diagnostics.add(entry.diagnostic("rule", "matches", message=problem))
            return pattern
        case (_, text):
            return text


def _schema_text(entry: Entry[JudgeSpec], file: str, context: LoadContext) -> str:
    """Return a schema as canonical JSON; None and an error if it is invalid.

    Args:
        entry: The judge.
        file: Name of the file, or the schema itself as JSON text.
        context: Context of the load.
    """
    is_inline = file.lstrip().startswith("{")
    text = file if is_inline else context.text(entry, "rule", "json_schema", name=file)
    if text is None:
        return ""
    try:
        schema = json.loads(text)
        problem = schema_problem(schema)
    except (ValueError, RecursionError) as error:
        problem = f"it is not JSON: {error}"
    if problem:
        message = f"`{'json_schema' if is_inline else file}` cannot be used as a JSON Schema: {problem}"
        context.diagnostics.add(entry.diagnostic("rule", "json_schema", message=message))
        return ""
    return canonical_json(schema)


def judges_from_domain(study: Study) -> dict[str, Any]:
    """Return all judges of a study; those with their own question use it as a guideline."""
    stored: dict[str, Any] = {}
    for annotator in study.annotators:
        long = _labelling_from_domain(annotator.labelling)
        if long:
            named = {"title": annotator.title, "panel": annotator.panel}
            stored[annotator.name] = {"guideline": annotator.guideline, **long} | {k: v for k, v in named.items() if v}
    return stored


def _labelling_from_domain(labelling: Labelling) -> dict[str, Any]:
    """Return the method of a judge; empty for labels from a file."""
    match labelling:
        case ModelJudge(model=model, voting=voting):
            return {"model": model, **({"votes": _votes_from_domain(voting)} if voting.most > 1 else {})}
        case WordRule():
            return {"rule": _word_rule_from_domain(labelling)}
        case PacketRule():
            return {"rule": "packet"}
        case PythonLabeller():
            env = {"env": list(labelling.env)} if labelling.env else {}
            return {"python": labelling.target, "version": labelling.version, "timeout": labelling.timeout_s, **env}
        case RecordedLabels() | HandLabels():
            return {}


def _votes_from_domain(voting: Voting) -> dict[str, Any]:
    long: dict[str, Any] = {"rule": voting.rule.value, "most": voting.most}
    if voting.rule is StopRule.LEAD:
        long["lead"] = voting.lead
    return long | ({"price": voting.price, "prior": list(voting.prior)} if voting.rule is StopRule.BAYES else {})


def _word_rule_from_domain(rule: WordRule) -> dict[str, Any]:
    long: dict[str, Any] = {"any": list(rule.any_of), "not": list(rule.none_of), "question": rule.question}
    long = {key: value for key, value in long.items() if value}
    if rule.check is not None:
        long[rule.check.value] = rule.text
        long |= {"tolerance": rule.tolerance} if rule.tolerance else {}
    if rule.where is not Side.RESPONSE:
        long["where"] = rule.where.value
    return long | {"then": rule.then, "else": rule.otherwise}


Share = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=1)]]
"""Two counts: a part and its whole."""


class CalibrationSpec(Spec):
    """A judge's results on labelled dialogues outside the study."""

    caught: Share
    """Defects that the judge detected, and all defects: `[180, 200]`."""
    passed: Share
    """Non-defects that the judge passed, and all non-defects: `[140, 200]`."""
    source: Filled = Field(alias="from")
    """Description of the validation, shown in the report."""

    @model_validator(mode="after")
    def _parts_of_their_whole(self) -> CalibrationSpec:
        wrong = [name for name in ("caught", "passed") if getattr(self, name)[0] > getattr(self, name)[1]]
        if wrong:
            message = f"`{wrong[0]}` holds a part and its whole, e.g. [180, 200]; got {list(getattr(self, wrong[0]))}"
            raise ValueError(message)
        return self


class CorrectionSpec(Spec):
    """Correction of one judge's numbers by human labels."""

    rate: RateCorrection = RateCorrection.VERDICT_STRATIFIED
    """Its rates: `verdict-stratified` by labels of a random sample, `rogan-gladen` by `calibrations`, or `none`."""
    mean: MeanCorrection = MeanCorrection.POWERED
    """Means of its scores: `ppi++` by labels of a random sample, or `none`."""
    calibrations: dict[str, CalibrationSpec] = Field(default_factory=dict)
    """With `rogan-gladen`: results of an external validation, by defect rule; `defect` if there is one rule."""


def corrections_to_domain(
    entries: Iterable[Entry[CorrectionSpec]],
    annotators: Sequence[Annotator],
    guidelines: Sequence[Guideline],
    lost: set[str],
    context: LoadContext,
) -> tuple[CorrectionChoice, ...]:
    """Return the corrections of judges' numbers; adds errors if a judge or a rule is missing.

    Args:
        entries: The `corrections` section.
        annotators: All annotators of the study.
        guidelines: All guidelines of the study.
        lost: Names of judges and annotators that could not be read.
        context: Collects the errors.
    """
    known = {annotator.name: annotator for annotator in annotators}
    by_name = {guideline.name: guideline for guideline in guidelines}
    result = []
    for entry in entries:
        judge = known.get(entry.name)
        guideline = by_name.get(judge.guideline) if judge else None
        if judge is None or guideline is None:
            _complain_unknown(entry, known, lost, context)
            continue
        result.append(_choice(entry, judge, guideline, context))
    return tuple(result)


def _complain_unknown(
    entry: Entry[CorrectionSpec], known: Mapping[str, Annotator], lost: set[str], context: LoadContext
) -> None:
    if entry.name in lost or entry.name in known:
        return
    near = did_you_mean(entry.name, known) or f"; the study has {', '.join(known) or 'none'}"
    message = f"`corrections` names a judge `{entry.name}` that the study does not have{near}"
    context.diagnostics.add(entry.diagnostic(message=message, at_key=True))


def _choice(
    entry: Entry[CorrectionSpec], judge: Annotator, guideline: Guideline, context: LoadContext
) -> CorrectionChoice:
    from theodolite.domain.study_parts import CorrectionChoice

    spec = entry.spec
    rules = [rule.name for rule in guideline.defect_rules]
    if judge.kind is AnnotatorKind.PERSON:
        message = f"`{judge.name}` is a person; people's numbers are what judges' are corrected by"
        context.diagnostics.add(entry.diagnostic(message=message, at_key=True))
    for name in spec.calibrations:
        if name not in rules:
            near = did_you_mean(name, rules) or f"; it has {', '.join(rules)}"
            message = f"guideline `{guideline.name}` has no defect rule `{name}`{near}"
            context.diagnostics.add(entry.diagnostic("calibrations", name, message=message))
    missing = [name for name in rules if name not in spec.calibrations]
    if spec.rate is RateCorrection.ROGAN_GLADEN and missing:
        message = (
            f"`rogan-gladen` needs what `{judge.name}` got right elsewhere; add under `calibrations`:"
            f" {{{missing[0]}: {{caught: [180, 200], passed: [140, 200], from: where}}}}"
        )
        context.diagnostics.add(entry.diagnostic("rate", message=message))
    return CorrectionChoice(
        judge=judge.name,
        rate=spec.rate,
        mean=spec.mean,
        calibrations=tuple(_calibrations(spec.calibrations)),
    )


def _calibrations(specs: Mapping[str, CalibrationSpec]) -> Iterator[Calibration]:
    from theodolite.domain.study_parts import Calibration

    for rule, spec in specs.items():
        (caught, defects), (passed, sound) = spec.caught, spec.passed
        yield Calibration(rule=rule, caught=caught, defects=defects, passed=passed, sound=sound, source=spec.source)


def corrections_from_domain(study: Study) -> dict[str, Any]:
    """Return the corrections of judges' numbers, if the study states any."""
    return {
        correction.judge: {
            "rate": correction.rate.value,
            "mean": correction.mean.value,
            "calibrations": {
                known.rule: {
                    "caught": [known.caught, known.defects],
                    "passed": [known.passed, known.sound],
                    "from": known.source,
                }
                for known in correction.calibrations
            },
        }
        for correction in study.corrections
    }
