"""The documentation pack: datasheet, data statement, data card, methods, codebook, deviations, validity, glossary.

Every number is read from the results file by a JSON Pointer (RFC 6901) and carries that pointer, so that
a reader can follow it; no number is typed or computed here.

Source:
    Gebru et al. (2021), Datasheets for Datasets, Communications of the ACM 64(12):86-92, doi:10.1145/3458723.
    Bender, Friedman (2018), Data Statements for NLP, TACL 6:587-604, doi:10.1162/tacl_a_00041.
    Pushkarna, Zaldivar, Kjartansson (2022), Data Cards, FAccT 2022, doi:10.1145/3531146.3533231.
"""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator, HandLabels, ModelJudge, RecordedLabels
from theodolite.domain.guideline import DefectRule, Violation
from theodolite.domain.identity import SHORT, version_of
from theodolite.domain.instrument import Question, ScaleKind
from theodolite.domain.series_review import SeriesPart
from theodolite.domain.study import Study
from theodolite.domain.undefined_reasons import reason_text
from theodolite.reporting.citations import CitedResults, Number, Text, measure_name
from theodolite.reporting.words import figures
from theodolite.reporting.words.reading_aids import ARIA_TERMS

RESULTS: Final = "results.json"
NOT_STATED: Final = "Not stated."


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a document."""

    parts: Text


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """A table of a document."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]


Block: TypeAlias = Heading | Paragraph | DocumentTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document of the pack.

    Attributes:
        name: File name without ending.
        title: Title.
        blocks: Content.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]


def documents(study: Study, results: CitedResults, criteria: Sequence[tuple[str, str]]) -> tuple[Document, ...]:
    """Return the documentation pack of a run.

    Args:
        study: The study, with all annotators.
        results: The results file of the run.
        criteria: Statements on recruiting, selecting and assigning annotators: name and text.
    """
    return (
        Document(name="datasheet", title="Datasheet", blocks=tuple(_datasheet(study, results, criteria))),
        Document(name="data-statement", title="Data statement", blocks=tuple(_statement(study, results, criteria))),
        Document(name="data-card", title="Data card", blocks=(data_card(study, results),)),
        Document(name="methods", title="Methods", blocks=tuple(_methods(study, results))),
        Document(name="codebook", title="Codebook", blocks=tuple(codebook(study))),
        Document(name="deviations", title="Deviations from the published plan", blocks=tuple(_deviations(results))),
        Document(name="validity", title="Validity evidence", blocks=tuple(_validity(study, results))),
        Document(name="glossary", title="Terms of ARIA and of this package", blocks=(_glossary(),)),
    )


# --- Documents


def _datasheet(study: Study, results: CitedResults, criteria: Sequence[tuple[str, str]]) -> Iterator[Block]:
    yield Heading("Motivation")
    yield _quoted(study.about or f"{NOT_STATED} Add `about` to the study.")
    yield Heading("Composition")
    yield Paragraph(
        (
            "The data set contains ",
            results.cite("/run/completed_dialogues"),
            " dialogues of ",
            results.cite("/run/planned_dialogues"),
            " planned ones. A dialogue consists of prompts of a tester and replies of an application.",
        )
    )
    yield _dispositions(results)
    yield Heading("Collection")
    yield _quoted(f"Applications: {_names(application.name for application in study.applications)}.")
    yield _quoted(f"Scenarios: {_names(scenario.name for scenario in study.scenarios)}.")
    yield _quoted(_levels(study))
    yield from _facts(criteria, "Criteria for recruiting, selecting and assigning annotators")
    yield Heading("Preprocessing, cleaning and labelling")
    yield _annotators(study)
    yield Heading("Uses")
    yield _quoted("Rates describe these dialogues. Use them to compare applications on the same dialogues.")
    yield _quoted("They are not a certificate, not a ranking, and not an estimate for users of an application.")
    yield Heading("Distribution")
    yield _quoted("`theodolite release` writes an anonymised, signed bundle; `theodolite verify` checks it.")
    yield Heading("Maintenance")
    contact = study.event.contact if study.event else ""
    yield _quoted(f"Contact: {contact}" if contact else f"Contact: {NOT_STATED} Add `contact` to the study.")
    yield _quoted("`theodolite document` writes this pack again and lists what has changed in `changes.md`.")


def _statement(study: Study, results: CitedResults, criteria: Sequence[tuple[str, str]]) -> Iterator[Block]:
    yield Heading("Curation rationale")
    yield _quoted(study.about or f"{NOT_STATED} Add `about` to the study.")
    yield Heading("Language variety")
    languages = [study.language, *(translation.language for translation in study.translations)]
    yield _quoted(f"Language tags of the study's texts: {_names(languages)}.")
    yield Heading("Speaker demographics")
    groups = ", ".join(study.groups)
    yield _quoted(f"Dialogues are grouped by: {groups}." if groups else f"{NOT_STATED} The study has no groups.")
    yield Heading("Annotator demographics")
    attributes = results.data.get("annotator_groups") or []
    if attributes:
        analyses = Number("/annotator_groups", figures.number_of(len(attributes), "analysis", "analyses"))
        yield Paragraph((analyses, " of agreement within groups of annotators."))
    else:
        yield _quoted(f"{NOT_STATED} No groups of annotators were analysed.")
    yield from _facts(criteria, "Annotator selection")
    yield Heading("Speech situation")
    yield _quoted(_levels(study))
    for scenario in study.scenarios:
        if scenario.goal:
            yield _quoted(f"{scenario.name}: {scenario.goal}")
    yield Heading("Text characteristics")
    yield Paragraph(("Written dialogues: ", results.cite("/run/completed_dialogues"), "."))
    yield Heading("Provenance")
    yield Paragraph(
        ("Run ", results.cite("/run/number"), " of the study, version ", _short(results, "/study/version"), ".")
    )


def data_card(study: Study, results: CitedResults) -> DocumentTable:
    """Return the data card: one table with the most important facts of the data set."""
    rows: list[tuple[Text, Text]] = [
        (("Name",), (study.title or study.name,)),
        (("Purpose",), (study.about or NOT_STATED,)),
        (("Dialogues",), (results.cite("/run/completed_dialogues"), " of ", results.cite("/run/planned_dialogues"))),
        (("Applications",), (_names(application.name for application in study.applications),)),
        (("Scenarios",), (_names(scenario.name for scenario in study.scenarios),)),
        (("Levels of testing",), (_level_names(study),)),
        (("Guidelines",), (_names(guideline.name for guideline in study.guidelines),)),
        (("Annotators",), (Number("/instruments/annotators", _annotator_counts(study)),)),
        (("Risks",), (_names(risk.name for risk in study.risks) if study.risks else NOT_STATED,)),
        (("Language",), (study.language,)),
        (("Failures",), (Number("/failures", figures.count(len(results.data["failures"]))),)),
        (("Run",), (results.cite("/run/number"), ", ", results.cite("/run/state"))),
        (("Seed",), (results.cite("/run/seed"),)),
    ]
    return DocumentTable(columns=("Fact", "Value"), rows=tuple(rows))


def _methods(study: Study, results: CitedResults) -> Iterator[Block]:
    yield Heading("Design")
    yield _quoted(_levels(study))
    yield Paragraph(
        (
            "Planned dialogues: ",
            results.cite("/run/planned_dialogues"),
            "; completed: ",
            results.cite("/run/completed_dialogues"),
            "; seed of all draws: ",
            results.cite("/run/seed"),
            ".",
        )
    )
    yield Heading("Applications")
    rows = tuple(
        ((one["name"],), (_short(results, f"/instruments/applications/{position}/version"),))
        for position, one in enumerate(results.data["instruments"]["applications"])
    )
    yield DocumentTable(columns=("Application", "Version"), rows=rows)
    yield Heading("Annotation")
    yield _annotators(study)
    yield Heading("Missing data")
    yield _quoted("A failure or a missing label is never counted as a label; every estimate states its n.")
    yield _dispositions(results)
    yield Heading("Statistics")
    methods: dict[str, dict[str, None]] = {}
    for entry in results.data["estimates"]:
        if entry.get("method"):
            methods.setdefault(measure_name(entry), {})[entry["method"]] = None
    yield DocumentTable(
        columns=("Measure", "Interval or method"),
        rows=tuple(((name,), ("; ".join(known),)) for name, known in methods.items()),
    )
    yield Heading("Defect rates")
    yield from _estimates(results, "defect_rate")


def codebook(study: Study) -> Iterator[Block]:
    """Yield every instrument with its questions, scales and defect rules."""
    for guideline in study.guidelines:
        yield Heading(f"Guideline {guideline.name}")
        if guideline.definition:
            yield _quoted(guideline.definition)
        yield _quoted(f"Version {version_of(guideline)[:SHORT]}.")
        yield _questions(guideline.instrument.questions)
        if guideline.defect_rules:
            rows = tuple((((rule.name,), (_condition(rule),), (_side(rule),))) for rule in guideline.defect_rules)
            yield DocumentTable(columns=("Defect rule", "Condition", "Side of the guardrail"), rows=rows)
    for questionnaire in study.questionnaires:
        yield Heading(f"Questionnaire {questionnaire.name}")
        yield _quoted(f"Version {version_of(questionnaire)[:SHORT]}.")
        yield _questions(questionnaire.instrument.questions)


def _deviations(results: CitedResults) -> Iterator[Block]:
    series = results.data.get("series")
    if series is None:
        yield _quoted("The study belongs to no series, so no plan was published.")
        return
    if series.get("published") is None:
        yield _quoted(f"The plan of series {series['name']} is not written down.")
        return
    yield _quoted(f"Series: {series['name']}.")
    if not series["deviations"]:
        yield _quoted("No deviations: everything that was tested had been published.")
        return
    rows = tuple(((results.cite(f"/series/deviations/{position}"),),) for position in range(len(series["deviations"])))
    yield DocumentTable(columns=("Deviation",), rows=rows)


def _validity(study: Study, results: CitedResults) -> Iterator[Block]:
    yield Heading("Agreement between annotators")
    yield from _estimates(
        results, *dict.fromkeys(e["measure"] for e in results.data["estimates"] if _is_agreement(e["measure"]))
    )
    yield Heading("Judges against human labels")
    reports = results.data["judge_validations"]
    judged = [one for one in results.data["instruments"]["annotators"] if one["kind"] != AnnotatorKind.PERSON.value]
    if not reports:
        in_use = Number("/judge_validations", f"0 of {figures.number_of(len(judged), 'judge')} validated.")
        yield Paragraph((in_use, " Rates by these judges may be too high or too low."))
    for position, report in enumerate(reports):
        yield Paragraph(
            (
                f"Judge {report['judge']}: ",
                Number(f"/judge_validations/{position}", f"{report.get('labelled', 0)} labelled dialogues"),
                ".",
            )
        )
    yield Heading("Scenarios as proxies of real use")
    yield _proxies(results)
    evidence = review_evidence(study, results)
    for title, part in (("Guardrails", SeriesPart.GUARDRAILS), ("Measurement trees", SeriesPart.TREE)):
        yield Heading(title)
        rows = tuple((line,) for line in evidence[part])
        yield DocumentTable(columns=("Result",), rows=rows) if rows else _quoted("Nothing was measured.")
    yield Heading("Contamination")
    yield _contamination(results)
    yield Heading("Simulated users beside people")
    comparison = " with dialogues of both: the results file compares their style and rates."
    yield _counted(results, "realism", "scenario", comparison, none="No scenario was used by both.")
    yield Heading("Effects of order")
    effects = " of order: the results file has each with its interval."
    yield _counted(results, "order_effects", "effect", effects, none="Order was not varied.")
    yield Heading("Blinding")
    yield _blinding(results)


def review_evidence(study: Study, results: CitedResults) -> dict[SeriesPart, tuple[Text, ...]]:
    """Return the results that concern the validity of each part of a series; empty if none was computed."""
    return {
        SeriesPart.SIMULATION: (*_count_lines(results, "realism", "comparisons of simulated users with people"),),
        SeriesPart.SCENARIOS: tuple(_proxy_lines(results)),
        SeriesPart.GUARDRAILS: tuple(_guardrail_lines(study, results)),
        SeriesPart.SCHEMA: tuple(_agreement_lines(results)),
        SeriesPart.TREE: tuple(_tree_lines(results)),
        SeriesPart.ORGANISATION: tuple(_organisation_lines(results)),
    }


def _organisation_lines(results: CitedResults) -> Iterator[Text]:
    """Yield the completed share of the plan."""
    planned = results.data["run"]["planned_dialogues"]
    yield (
        results.cite("/run/completed_dialogues"),
        " of ",
        Number("/run/planned_dialogues", figures.number_of(planned, "planned dialogue")),
        " completed",
    )


def _count_lines(results: CitedResults, name: str, plural: str) -> Iterator[Text]:
    entries = results.data.get(name)
    if entries:
        yield (Number(f"/{name}", figures.count(len(entries))), f" {plural}")


def _proxy_lines(results: CitedResults) -> Iterator[Text]:
    for position, check in enumerate(results.data.get("proxies") or []):
        yield (
            f"{check['scenario']}, {check['rule']}: ",
            results.cite(f"/proxies/{position}/labelled"),
            " of ",
            results.cite(f"/proxies/{position}/completed"),
            " dialogues labelled; rates over applications: ",
            results.cite(f"/proxies/{position}/reach"),
        )


def _guardrail_lines(study: Study, results: CitedResults) -> Iterator[Text]:
    sides = {
        f"{guideline.name}.{rule.name}": _side(rule)
        for guideline in study.guidelines
        for rule in guideline.defect_rules
        if rule.violation in {Violation.PROHIBITED_RELEASED, Violation.PERMITTED_WITHHELD}
    }
    for position, entry in results.estimates("defect_rate"):
        side = sides.get(f"{entry['subject'].get('guideline')}.{entry['subject'].get('rule')}")
        if side:
            yield (f"{entry['subject'].get('application')}, {side}: ", results.estimate(position))


def _agreement_lines(results: CitedResults) -> Iterator[Text]:
    measures = {entry["measure"] for entry in results.data["estimates"] if _is_agreement(entry["measure"])}
    people = _people_in(results)
    for position, entry in results.estimates(*measures):
        yield (f"{measure_name(entry)}, {_subject_text(entry['subject'], people)}: ", results.estimate(position))


def _tree_lines(results: CitedResults) -> Iterator[Text]:
    for place, tree in enumerate(results.data.get("trees") or []):
        for position, application in enumerate(tree["applications"]):
            at = f"/trees/{place}/applications/{position}"
            changes_without = [
                (abs(one["change"]), index)
                for index, one in enumerate(application["without"])
                if one["change"] is not None
            ]
            undefined = sum(node["value"] is None for node in application["nodes"])
            nodes = Number(f"{at}/nodes", f"{undefined} of {len(application['nodes'])} nodes without a value")
            line: Text = (f"{tree['tree']}, {application['application']}: ", nodes)
            if changes_without:
                _, index = max(changes_without)
                without = application["without"][index]
                change = results.cite(f"{at}/without/{index}/change")
                line = (*line, f"; without {without['child']}, {without['node']} changes by ", change)
            yield line


def _contamination(results: CitedResults) -> Block:
    """Return publication and canaries of each pack and packet."""
    materials: tuple[tuple[Text, ...], ...] = tuple(
        (
            (f"{entry['material']} {entry['version']}".strip(),),
            ("held out" if entry["held_out"] else f"public since {entry['public_since'] or 'an unknown date'}",),
            (results.cite(f"/contamination/{index}/searched_responses"),),
            (Number(f"/contamination/{index}/found", _found_text(entry)),),
        )
        for index, entry in enumerate(results.data.get("contamination") or [])
    )
    columns = ("Material", "Publication", "Searched responses", "Canaries")
    return DocumentTable(columns=columns, rows=materials) if materials else _quoted("No pack or packet; not tested.")


def _found_text(entry: Mapping[str, Any]) -> str:
    if not entry["canaries"]:
        return "no canary; not tested"
    return "; ".join(f"{one['application']}: {', '.join(one['dialogues'])}" for one in entry["found"]) or "none found"


def _people_in(results: CitedResults) -> tuple[str, ...]:
    """Return the annotators, in the order of the results file; their position is their number here."""
    kinds = results.data["instruments"]["annotators"]
    return tuple(kind["name"] for kind in kinds if kind["kind"] == AnnotatorKind.PERSON.value)


def _glossary() -> DocumentTable:
    rows = tuple(((term,), (ours,), (meaning,)) for term, ours, meaning in ARIA_TERMS)
    return DocumentTable(columns=("ARIA", "This package", "Meaning"), rows=rows)


# --- Parts


def _quoted(text: str) -> Paragraph:
    return Paragraph((text,))


def _facts(facts: Sequence[tuple[str, str]], title: str) -> Iterator[Block]:
    if facts:
        yield DocumentTable(columns=(title, "Statement"), rows=tuple(((name,), (text,)) for name, text in facts))
    else:
        yield _quoted(f"{title}: {NOT_STATED}")


def _names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names)) or "none"


def _short(results: CitedResults, pointer: str) -> Number:
    return Number(pointer, str(results.at(pointer) or "")[:SHORT])


def _levels(study: Study) -> str:
    return f"Levels of testing: {_level_names(study)}."


def _level_names(study: Study) -> str:
    return _names(plan.level.value for plan in study.levels) if study.levels else "model testing only"


def _annotator_counts(study: Study) -> str:
    counts = {kind: sum(annotator.kind is kind for annotator in study.annotators) for kind in AnnotatorKind}
    return ", ".join(f"{kind.value}: {n}" for kind, n in counts.items() if n) or "none"


def _annotators(study: Study) -> DocumentTable:
    machines = [annotator for annotator in study.annotators if annotator.kind is not AnnotatorKind.PERSON]
    people = [annotator for annotator in study.annotators if annotator.kind is AnnotatorKind.PERSON]
    rows: list[tuple[Text, ...]] = [
        ((machine.name,), (machine.kind.value,), (machine.guideline,), (_how(machine),)) for machine in machines
    ]
    for guideline in dict.fromkeys(person.guideline for person in people):
        n = sum(person.guideline == guideline for person in people)
        people_text = Number("/instruments/annotators", figures.number_of(n, "person", "people"))
        rows.append(((people_text,), ("person",), (guideline,), ("labels of people; names are not published",)))
    return DocumentTable(columns=("Annotator", "Kind", "Guideline", "Method"), rows=tuple(rows))


def _how(annotator: Annotator) -> str:
    match annotator.labelling:
        case ModelJudge(model=model):
            return f"model {model}"
        case RecordedLabels():
            return "recorded labels"
        case HandLabels():
            return "labels by hand"
        case _:
            return "rule or function"


def _dispositions(results: CitedResults) -> DocumentTable:
    rows = tuple(
        (
            (entry["guideline"],),
            (results.cite(f"/dispositions/{position}/planned"),),
            (results.cite(f"/dispositions/{position}/labelled"),),
            (results.cite(f"/dispositions/{position}/unparseable"),),
            (results.cite(f"/dispositions/{position}/missing"),),
        )
        for position, entry in enumerate(results.data["dispositions"])
    )
    return DocumentTable(columns=("Guideline", "Planned", "Labelled", "Unparseable", "Missing"), rows=rows)


def _estimates(results: CitedResults, *measures: str) -> Iterator[Block]:
    """Yield a table of the estimates that have a value, and one with the reasons for the others."""
    people = _people_in(results)
    rows: list[tuple[Text, ...]] = []
    undefined: dict[str, list[int]] = {}
    for position, entry in results.estimates(*measures):
        if entry["value"] is None:
            undefined.setdefault(reason_text(entry["undefined_reason"]), []).append(position)
            continue
        subject = _subject_text(entry["subject"], people)
        rows.append(((measure_name(entry),), (subject,), (results.estimate(position),)))
    if rows:
        yield DocumentTable(columns=("Measure", "Subject", "Estimate"), rows=tuple(rows))
    if undefined:
        reasons = tuple(
            ((Number("/estimates", figures.number_of(len(places), "estimate")),), (reason,))
            for reason, places in undefined.items()
        )
        yield DocumentTable(columns=("Undefined", "Reason"), rows=reasons)
    if not rows and not undefined:
        yield _quoted("None.")


def _subject_text(subject: Mapping[str, Any], people: Sequence[str]) -> str:
    """Return the subject of an estimate; people have no names."""
    names = ("application", "guideline", "question", "rule", "level", "tester_type", "scenario")
    parts = [str(subject[name]) for name in names if subject.get(name)]
    annotators = [one for one in subject.get("annotators") or [] if one not in people]
    persons = [one for one in subject.get("annotators") or [] if one in people]
    by = [
        *annotators,
        *(
            [f"{len(persons)} people" if len(persons) > 1 else f"person {people.index(persons[0]) + 1}"]
            if persons
            else []
        ),
    ]
    return ", ".join([*parts, *([f"by {' and '.join(by)}"] if by else [])])


def _is_agreement(measure: str) -> bool:
    return any(word in measure for word in ("agreement", "kappa", "alpha"))


def _counted(results: CitedResults, name: str, noun: str, rest: str, *, none: str) -> Paragraph:
    n = len(results.data.get(name) or ())
    return Paragraph((Number(f"/{name}", figures.number_of(n, noun)), rest)) if n else _quoted(none)


def _proxies(results: CitedResults) -> Block:
    """Return which scenarios leave room for differences between applications."""
    entries = results.data.get("proxies") or ()
    if not entries:
        return _quoted("No scenario states the use that it stands for.")
    rows = tuple(
        (
            (entry["scenario"],),
            (entry["rule"],),
            (entry["annotator"],),
            (
                Number(f"/proxies/{index}/labelled", figures.count(entry["labelled"])),
                " of ",
                Number(f"/proxies/{index}/planned", figures.count(entry["planned"])),
            ),
            (Number(f"/proxies/{index}/reach", entry["reach"]),),
        )
        for index, entry in enumerate(entries)
    )
    return DocumentTable(columns=("Scenario", "Rule", "Annotator", "Labelled of planned", "Defects"), rows=rows)


def _blinding(results: CitedResults) -> Block:
    """Return the number of testers who guessed the application or the level of testing."""
    entries = (results.data.get("event") or {}).get("blinding") or ()
    if not entries:
        return _quoted("Nobody was asked to guess an application.")
    rows = tuple(
        (
            (entry["guessed"],),
            (entry["level"] or "all levels",),
            (Number(f"/event/blinding/{index}/right", _share_text(entry["right"])),),
            (Number(f"/event/blinding/{index}/by_chance", figures.percent(entry["by_chance"])),),
        )
        for index, entry in enumerate(entries)
    )
    return DocumentTable(columns=("Guessed", "Level", "Right", "By chance"), rows=rows)


def _share_text(number: Mapping[str, Any]) -> str:
    if number["value"] is None:
        return "undefined"
    return f"{figures.count(number['count'] or 0)} of {figures.count(number['n'])}"


def _questions(questions: Sequence[Question]) -> DocumentTable:
    rows = tuple(
        ((question.name,), (question.text,), (question.level.value,), (_scale(question),)) for question in questions
    )
    return DocumentTable(columns=("Question", "Text", "Asked about", "Scale"), rows=rows)


def _scale(question: Question) -> str:
    scale = question.scale
    if scale.kind is ScaleKind.TEXT:
        return "text"
    labels = "; ".join(f"{label.value}: {label.meaning}" if label.meaning else label.value for label in scale.labels)
    if scale.kind is ScaleKind.CATEGORIES:
        return labels
    return f"{scale.lowest} to {scale.highest}" + (f" ({labels})" if labels else "")


def _condition(rule: DefectRule) -> str:
    among = "".join(f", where {name} is {value}" for name, value in rule.among.items())
    return f"{rule.question} {rule.operator.value} {', '.join(rule.values)}{among}"


def _side(rule: DefectRule) -> str:
    return rule.violation.value.replace("_", " ")


# --- Renderings


def markdown(document: Document) -> str:
    """Return a document as Markdown; each number is a link to its value in the results file."""
    pieces = [f"# {document.title}"]
    for block in document.blocks:
        match block:
            case Heading(text=text):
                pieces.append(f"## {text}")
            case Paragraph(parts=parts):
                pieces.append(_markdown(parts))
            case DocumentTable(columns=columns, rows=rows):
                head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
                lines = (f"| {' | '.join(_markdown(cell) for cell in row)} |" for row in rows)
                pieces.append("\n".join([head, *lines]))
    return "\n\n".join(pieces) + "\n"


def _markdown(parts: Text) -> str:
    return "".join(
        f"[{_plain(part.text)}]({RESULTS}#{part.pointer})" if isinstance(part, Number) else _plain(part)
        for part in parts
    )


def _plain(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")


def html_page(document: Document, *, style: str = "") -> str:
    """Return a document as one HTML page without scripts; each number is a link to its value in the results file."""
    pieces = [f"<h1>{html.escape(document.title)}</h1>"]
    for block in document.blocks:
        match block:
            case Heading(text=text):
                pieces.append(f"<h2>{html.escape(text)}</h2>")
            case Paragraph(parts=parts):
                pieces.append(f"<p>{_html(parts)}</p>")
            case DocumentTable(columns=columns, rows=rows):
                head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
                body = "".join(f"<tr>{''.join(f'<td>{_html(cell)}</td>' for cell in row)}</tr>" for row in rows)
                pieces.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    title, content = html.escape(document.title), "\n".join(pieces)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{style or _STYLE}</style></head>\n<body><main>\n{content}\n</main></body></html>\n"
    )


_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #888;padding:4px 8px;"
    "text-align:left;vertical-align:top}:root{color-scheme:light dark}"
)


def _html(parts: Text) -> str:
    return "".join(
        f'<a href="{RESULTS}#{html.escape(part.pointer)}">{html.escape(part.text)}</a>'
        if isinstance(part, Number)
        else html.escape(part)
        for part in parts
    )


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the differences between two issues of a pack, as a unified diff of their Markdown files."""
    lines: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name, "").splitlines(), after.get(name, "").splitlines()
        lines += difflib.unified_diff(old, new, f"{name} (previous issue)", f"{name} (this issue)", lineterm="", n=0)
    return "\n".join(lines)
