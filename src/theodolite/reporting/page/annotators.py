"""Annotators, guidelines and applications of the report with versions, agreement and confusion matrices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import (
    Annotator,
    HandLabels,
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
from theodolite.domain.answer_rules import labels_of, positions_of
from theodolite.domain.answers import AnswerTable, Positions
from theodolite.domain.application import (
    Application,
    AriaClass,
    BodyFormat,
    CodeVersion,
    HttpEndpoint,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.estimate import Confusion, Undefined
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.guideline import DefectRule, Example, Guideline, Origin
from theodolite.domain.identity import SHORT, version_of
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE, Question, ScaleKind
from theodolite.domain.study import Reference, Study
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.agreements import Agreement, agreed, judge_note, validation_note
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.tables import Table, TableCell, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.estimates import unreadable_text, weighting_text

_ORIGINS = {
    Origin.SHIPPED: "shipped with the package",
    Origin.STUDY: "written in this study",
    Origin.OWN_WORDING: "own wording, not validated",
}


_SHARES = {
    Measure.EXACT_AGREEMENT,
    Measure.RELAXED_AGREEMENT,
    Measure.UNANIMITY,
    Measure.CLASS_PRECISION,
    Measure.CLASS_RECALL,
}

"""Measures of agreement that are shares of dialogues."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentView:
    """One guideline, annotator or application with its version and its full text."""

    kind: str
    name: str
    version: str
    standing: str
    text: str


def instruments(subject: Subject) -> tuple[InstrumentView, ...]:
    """Return every guideline, annotator and application with its version."""
    study = subject.study
    views = [
        InstrumentView(
            kind="guideline",
            name=f"{g.name} {g.edition}".strip(),
            version=version_of(g)[:SHORT],
            standing=_ORIGINS[g.origin],
            text=guideline_text(g),
        )
        for g in study.guidelines
    ]
    views += [_annotator_view(subject, annotator) for annotator in study.annotators]
    views += [_reference_view(study.reference)] if study.reference else []
    views += [
        InstrumentView(
            kind="application",
            name=app.name,
            version=study.application_version(app.name)[:SHORT],
            standing=f"guardrails: {app.guardrails.value}",
            text=application_text(app),
        )
        for app in study.applications
    ]
    return tuple(views)


def _reference_view(reference: Reference) -> InstrumentView:
    return InstrumentView(
        kind="reference",
        name="final labels",
        version=version_of(reference)[:SHORT],
        standing=f"labels by {reference.guideline}",
        text=_column_text(reference.column, reference.spelling),
    )


def _annotator_view(subject: Subject, annotator: Annotator) -> InstrumentView:
    return InstrumentView(
        kind={"person": "person", "model": "judge", "rule": "rule"}[annotator.kind.value],
        name=annotator.title or annotator.name,
        version=subject.study.annotator_version(annotator.name)[:SHORT],
        standing="; ".join(filter(None, (_standing(subject, annotator), _schema_words(subject, annotator.name)))),
        text=_labelling_text(annotator),
    )


def _standing(subject: Subject, annotator: Annotator) -> str:
    if annotator.kind is AnnotatorKind.PERSON:
        return f"labels by {annotator.guideline}"
    guideline = subject.study.guideline(annotator.guideline)
    note = judge_note(subject.evidence, subject.agreements, guideline, annotator.name)
    return f"{validation_note(subject.evidence, annotator.name)}; {note}"


def _schema_words(subject: Subject, annotator: str) -> str:
    """Return a note if an endpoint rejected the answer schema; empty otherwise."""
    tally = next((tally for tally in subject.evidence.schemas if tally.annotator == annotator), None)
    if tally is None or not tally.refused:
        return ""
    n = figures.count(tally.sent + tally.refused + tally.off)
    return f"its endpoint takes no answer schema: {figures.count(tally.refused)} of {n} asked for in words alone"


def _labelling_text(annotator: Annotator) -> str:
    match annotator.labelling:
        case ModelJudge(model=model, voting=voting):
            text = f"The model `{model}` reads the guideline `{annotator.guideline}` and the dialogue"
            return f"{text}{_voting_text(voting)}."
        case WordRule() as rule:
            return _rule_text(rule)
        case PacketRule():
            return "Looks for the signs that each scenario's test packet names: what tells a release, what a refusal."
        case PythonLabeller(target=target, version=version):
            return f"The Python function `{target}`, version {version} as its author declares."
        case RecordedLabels(column=column, spelling=spelling):
            return _column_text(column, spelling)
        case HandLabels():
            return "Reads the guideline and the dialogue, and labels by hand."


def _voting_text(voting: Voting) -> str:
    if voting.most == 1:
        return ""
    stop = {
        StopRule.FIXED: "always",
        StopRule.CURTAILED: "until no further reading can change the majority",
        StopRule.LEAD: f"until one answer is {voting.lead} ahead",
        StopRule.BAYES: f"until a further reading is not worth {voting.price:g} wrong labels",
    }[voting.rule]
    most = f"{voting.most} times" if voting.rule is StopRule.FIXED else f"at most {voting.most} times"
    return f", {most}, {stop}; the majority of its readings counts"


def _rule_text(rule: WordRule) -> str:
    if rule.check is not None:
        words = {
            TextCheck.EQUALS: "equals",
            TextCheck.CONTAINS: "contains",
            TextCheck.NUMBER: "has the number",
            TextCheck.MATCHES: "matches the expression",
            TextCheck.JSON_SCHEMA: "is JSON that fits the schema",
        }
        within = f" (within {rule.tolerance})" if rule.tolerance else ""
        return (
            f"Label `{rule.then}` where the last response {words[rule.check]}\n"
            f"  {rule.text}{within}\nelse `{rule.otherwise}`."
        )
    side = {Side.PROMPT: "prompt", Side.RESPONSE: "response", Side.BOTH: "prompt or response"}[rule.where]
    rule_lines = [f"Label `{rule.then}` where a {side} holds one of", *(f"  {pattern}" for pattern in rule.any_of)]
    unwanted = ["and none of" if rule.any_of else f"Label `{rule.then}` where no {side} holds one of"]
    unwanted += [f"  {pattern}" for pattern in rule.none_of]
    lines = [*(rule_lines if rule.any_of else []), *(unwanted if rule.none_of else [])]
    return "\n".join([*lines, f"else `{rule.otherwise}`."])


def _column_text(column: str, spelling: Mapping[str, str]) -> str:
    spelt = "".join(f"\n  {written} means {label}" for written, label in spelling.items())
    return f"Recorded in the column `{column}`.{spelt}"


def agreement_tables(subject: Subject) -> tuple[Table, ...]:
    """Return the agreements, one table for the compared annotators."""
    grouped: dict[tuple[str, tuple[str, ...], bool], list[Agreement]] = defaultdict(list)
    for agreement in subject.agreements:
        of = agreement.measurement.subject
        grouped[of.guideline, agreement.annotators, bool(of.label)].append(agreement)
    return tuple(_table(subject, guideline, who, entries) for (guideline, who, _), entries in grouped.items())


def _table(subject: Subject, guideline: str, who: tuple[str, ...], entries: Sequence[Agreement]) -> Table:
    measures = tuple(dict.fromkeys(_measure_of(agreement) for agreement in entries))
    cells = {(_row_of(a), _measure_of(a)): _agreement_cell(a) for a in entries}
    of_labels = ", label by label" if entries[0].measurement.subject.label else ""
    return Table(
        title=f"{_names(subject.study, who)} on {guideline}{of_labels}",
        columns=columns("Application", *(_measure_title(subject, measure, scale) for measure, scale in measures)),
        rows=tuple(
            (row, *(cells.get((row, measure), "") for measure in measures))
            for row in dict.fromkeys(_row_of(agreement) for agreement in entries)
        ),
        style="agreement",
    )


def _measure_of(agreement: Agreement) -> tuple[Measure, str]:
    measurement = agreement.measurement
    return measurement.measure, weighting_text(measurement) or measurement.statistic or ""


def _row_of(agreement: Agreement) -> str:
    """Return the subject of a row of figures: an application, and one label if it concerns one."""
    application, label = agreement.measurement.application, agreement.measurement.subject.label
    return f"{application}: {label}" if label else application


def _measure_title(subject: Subject, measure: Measure, scale: str) -> str:
    title = subject.words.measure(measure).title
    return f"{title} ({scale})" if scale else title


def _names(study: Study, who: Sequence[str]) -> str:
    titles = [title_of(study, name) for name in who]
    return f"{', '.join(titles[:-1])} and {titles[-1]}" if len(titles) > 1 else titles[0]


def _agreement_cell(agreement: Agreement) -> TableCell:
    result = agreement.measurement.result
    if isinstance(result, Undefined):
        return TableCell(value=result, estimate=agreement.place)
    has_ends = result.low is not None and result.high is not None
    if agreement.measurement.measure in _SHARES:
        ends = figures.span(result.low or 0.0, result.high or 0.0) + "%" if has_ends else ""
        excluded = unreadable_text(agreement.measurement) if agreement.measurement.bounds else ""
        details = "; ".join(filter(None, (ends if result.n >= figures.FEW else "", excluded)))
        value = figures.share(agreed(agreement), result.n)
    else:
        low, high = figures.coefficient(result.low or 0.0), figures.coefficient(result.high or 0.0)
        details = f"{low} to {high}" if has_ends else ""
        value = figures.coefficient(result.value)
    return TableCell(value=value, details=(details,) if details else (), estimate=agreement.place)


def matrix_groups(subject: Subject) -> tuple[tuple[str, tuple[Table, ...]], ...]:
    """Return the confusion matrix of each two annotators with a title; each count opens its dialogues."""
    grouped: dict[tuple[str, str, str], list[tuple[int, Confusion]]] = defaultdict(list)
    for number, confusion in enumerate(subject.findings.confusions):
        grouped[_topic(subject, confusion), confusion.first, confusion.second].append((number, confusion))
    return tuple(
        (
            f"{_names(subject.study, (first, second))} on {topic}",
            tuple(_matrix(subject, number, confusion) for number, confusion in entries),
        )
        for (topic, first, second), entries in grouped.items()
    )


def _topic(subject: Subject, confusion: Confusion) -> str:
    """Return the guideline of a matrix, with the question where the guideline asks several."""
    asks = subject.study.guideline(confusion.guideline).instrument.questions
    return confusion.guideline if len(asks) == 1 else f"{confusion.guideline}, {confusion.question}"


def _matrix(subject: Subject, number: int, confusion: Confusion) -> Table:
    categories = confusion.matrix.categories
    cases: dict[tuple[str, str], list[int]] = defaultdict(list)
    table, guideline = subject.evidence.answers, subject.study.guideline(confusion.guideline)
    positions = positions_of(subject.study, table, confusion.application, guideline)
    labels = (_labels(table, confusion, name, guideline, positions) for name in (confusion.first, confusion.second))
    for position, row, column in zip(positions, *labels, strict=True):
        cases[row, column].append(position)
    titles = title_of(subject.study, confusion.first), title_of(subject.study, confusion.second)

    def cell(i: int, j: int) -> TableCell:
        first, second = categories[i], categories[j]
        title = f"{confusion.application}: {titles[0]} says {first}, {titles[1]} says {second}"
        opens = subject.sets.add(f"cell{number}.{i}.{j}", title, cases.get((first, second), ()))
        return TableCell(value=confusion.matrix.counts[i][j], opens=opens)

    n = len(categories)
    return Table(
        title=f"{confusion.application}, {_topic(subject, confusion)}: {titles[0]} and {titles[1]}",
        caption=confusion.application,
        columns=columns(f"{titles[0]} in rows, {titles[1]} in columns", *categories),
        rows=tuple((categories[i], *(cell(i, j) for j in range(n))) for i in range(n)),
        style="matrix",
    )


def _labels(
    table: AnswerTable, confusion: Confusion, annotator: str, guideline: Guideline, positions: Positions
) -> list[str]:
    question = guideline.instrument.question(confusion.question)
    labels = labels_of(table, annotator, guideline, question, positions=positions)
    return [label.value or label.outcome.value for label in labels]


FILES_SHOWN = 40

"""Files of an application's code that are listed."""


def guideline_text(guideline: Guideline) -> str:
    """Return a guideline as its annotators see it, with its defect rules."""
    parts = [guideline.definition] if guideline.definition else []
    parts += [_question_text(question) for question in guideline.instrument.questions]
    parts.append(
        "Defect rules\n" + "\n".join(f"  {rule.name}: {_defect_rule_text(rule)}" for rule in guideline.defect_rules)
    )
    parts += [_example_text(number, example) for number, example in enumerate(guideline.examples, 1)]
    return "\n\n".join([*parts, f"Version {version_of(guideline)}"])


def _defect_rule_text(rule: DefectRule) -> str:
    among = ", ".join(f"{name} is {value}" for name, value in rule.among.items())
    return f"{rule.condition}{f', among dialogues where {among}' if among else ''}"


def _question_text(question: Question) -> str:
    labels = {label.value: label.meaning for label in question.scale.labels}
    points = [f"  {value}{': ' + labels[value] if labels.get(value) else ''}" for value in question.scale.categories]
    if question.scale.kind is ScaleKind.DECIMALS:
        points = [f"  any number from {question.scale.lowest} to {question.scale.highest}"]
    points += [f"  {UNABLE}"] * question.may_be_unable + [f"  {NOT_APPLICABLE}"] * question.may_not_apply
    condition = f" (asked when {question.when.text})" if question.when else ""
    return "\n".join([f"{question.name}: {question.text}{condition}", *points])


def _example_text(number: int, example: Example) -> str:
    answers = ", ".join(f"{question} = {value}" for question, value in example.answers.items())
    reason = f"\n  because {example.reason}" if example.reason else ""
    return f"Example {number}\n{example.dialogue}\n  {answers}{reason}"


def application_text(application: Application) -> str:
    """Return the known facts on an application and its endpoint."""
    parts = [application.description, _connection_text(application)]
    parts += [f"{claim.kind.value.capitalize()}: {claim.text}" for claim in application.claims]
    parts += [f"Mitigation {item.name}: {item.description}".rstrip(": ") for item in application.mitigations]
    return "\n\n".join(part for part in parts if part)


def _connection_text(application: Application) -> str:
    match application.connection:
        case RecordedFile(is_released=True):
            return ""
        case RecordedFile(file=file, sha256=sha256):
            return f"Recorded in the file {file}\nSHA-256 {sha256}"
        case PromptedModel(model=model, system=system):
            return f"The model `{model}` with the system prompt\n{system or '(none)'}"
        case HttpEndpoint(url=url, method=method, body=body, body_as=body_as, reply=reply):
            sent = f"{body}, as a form" if body_as is BodyFormat.FORM else body
            return f"{method} {url}\n{sent}\nThe reply stands at {reply}"
        case PythonCallable(target=target, code=code):
            return f"The Python function {target}{_code_text(code)}"
        case AriaClass(target=target, code=code):
            return f"The class {target} for NIST's dialogue interface{_code_text(code)}"


def _code_text(code: CodeVersion) -> str:
    """Return the code that runs on a call: interpreter, files with their hashes, distributions."""
    files = [f"{sha256[:12]}  {name}" for name, sha256 in sorted(code.files.items())]
    shown = [*files[:FILES_SHOWN], f"and {len(files) - FILES_SHOWN} more files"] if len(files) > FILES_SHOWN else files
    parts = [f"Runs on {code.interpreter}"] if code.interpreter else []
    parts += ["Files, with the beginning of each one's SHA-256", *shown] if shown else []
    parts += [f"With {', '.join(code.distributions)}"] if code.distributions else []
    return "".join(f"\n{part}" for part in parts)
