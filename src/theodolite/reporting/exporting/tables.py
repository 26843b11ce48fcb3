"""Exports: every answer as one row with its context, and the tables about testers."""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from theodolite.domain.annotating.label_sample import item_of
from theodolite.domain.annotation import Annotation, Answer
from theodolite.domain.coding import CodingWork, OpenAnswer
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.event_record import GuessedThing
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import canonical_json, version_of
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.run import Spending
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.session import Session, SessionState
from theodolite.domain.study_parts import StatedCriteria
from theodolite.reporting.queries.cases import numbered, pseudonyms

ANSWERS = (
    "dialogue", "turn", "guideline", "guideline_version", "question", "annotator", "annotator_kind",
    "outcome", "value", "replicate", "revision", "note", "evidence", "shown_order", "sitting", "suggestions",
)  # fmt: skip

"""Columns of the table `answers`."""


DIALOGUES = (
    "dialogue", "application", "application_version", "scenario", "level", "held_by", "turns", "ending", "repeat",
    "groups",
)  # fmt: skip

"""Columns of the table `dialogues`."""


FINALS = ("dialogue", "guideline", "question", "outcome", "value", "origin", "n_participants", "rationale")

"""Columns of the table `final_labels`."""


CODEBOOK = (
    "guideline", "guideline_version", "question", "asked", "level", "scale", "labels", "orientation", "when", "defect",
)  # fmt: skip

"""Columns of the table `codebook`."""


CRITERIA = ("about", "revision", "stated", "text", "why")

"""Columns of the table `criteria`."""


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


ANNOTATORS = ("annotator", "annotator_kind", "guideline", "groups")

"""Columns of the table `annotators`."""


COSTS = (
    "stage", "application", "annotator", "model", "calls", "attempts", "tokens_in", "tokens_out", "cost_microusd",
    "unpriced_calls",
)  # fmt: skip

"""Columns of the table `costs`."""


WHOLE_NUMBERS = frozenset(
    {"turn", "replicate", "revision", "turns", "repeat", "n_participants", "codebook_revision", "sessions", "dialogues"}
    | {"answers", "severe_turns", "n_options", *COSTS[4:]}
)

"""Columns of integers; all others contain text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportTable:
    """One table of an export.

    Attributes:
        name: Name of its file, without ending.
        columns: Names of the columns.
        rows: A value for each column; None if missing. Can be read once.
    """

    name: str
    columns: Sequence[str]
    rows: Iterable[Sequence[object]]


def export_tables(evidence: Evidence, guideline: str = "") -> Iterator[ExportTable]:
    """Yield each table of a disaggregated export.

    Nothing is aggregated, and no person is named: people have numbers that
    stay the same for one run, and dialogues have opaque names.

    Args:
        evidence: All records of one run.
        guideline: Only its answers, and the dialogues that are labelled by it; empty for all.
    """
    people, study = pseudonyms(evidence), evidence.study
    codebook = (row for one in study.guidelines if guideline in {"", one.name} for row in _codebook_rows(one))
    dialogues = (dialogue for dialogue in evidence.archive.dialogues() if study.labelled_by(dialogue, guideline))
    yield ExportTable(name="answers", columns=ANSWERS, rows=_answer_rows(evidence, people, guideline))
    yield ExportTable(name="dialogues", columns=DIALOGUES, rows=map(_dialogue_row, dialogues))
    yield ExportTable(name="final_labels", columns=FINALS, rows=_final_rows(evidence, guideline))
    yield ExportTable(name="codebook", columns=CODEBOOK, rows=codebook)
    yield ExportTable(name="criteria", columns=CRITERIA, rows=map(_criteria_row, evidence.criteria))
    yield ExportTable(name="annotators", columns=ANNOTATORS, rows=_annotator_rows(evidence, people))
    yield ExportTable(name="costs", columns=COSTS, rows=_cost_rows(evidence))
    for name, columns, rows in tester_tables(evidence):
        yield ExportTable(name=name, columns=columns, rows=rows)


def export_texts(evidence: Evidence, ending: str, guideline: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and text of the documents for reading the tables: their content, and the guidelines.

    Args:
        evidence: All records of one run.
        ending: How the files of tables end, e.g. `csv`.
        guideline: The only one with its text included; empty for all.
    """
    yield "README.txt", _readme(evidence, ending)
    for one in evidence.study.guidelines:
        if guideline in {"", one.name}:
            yield f"schema/{one.name}.json", canonical_json(one) + "\n"


def csv_text(table: ExportTable) -> str:
    """Return a table as text, without cells that spreadsheets would read as formulas."""
    return "".join(csv_lines(table))


def csv_lines(table: ExportTable) -> Iterator[str]:
    """Yield the lines of a table, header first, without cells that spreadsheets would read as formulas."""
    line = io.StringIO(newline="")
    writer = csv.writer(line, lineterminator="\r\n")  # quotes a carriage return too, which spreadsheets end rows at
    for row in itertools.chain([table.columns], ([_cell(value) for value in row] for row in table.rows)):
        writer.writerow(row)
        yield line.getvalue().removesuffix("\r\n") + "\n"
        line.seek(0)
        line.truncate()


def _answer_rows(evidence: Evidence, people: Mapping[str, str], guideline: str) -> Iterator[Sequence[object]]:
    kinds = {annotator.name: annotator.kind.value for annotator in evidence.study.annotators}
    for annotation in evidence.archive.annotations():
        for answer in annotation.answers if guideline in {"", annotation.guideline} else ():
            yield _answer_row(annotation, answer, people, kinds.get(annotation.annotator, ""))


def _answer_row(annotation: Annotation, answer: Answer, people: Mapping[str, str], kind: str) -> Sequence[object]:
    return (
        item_of(annotation.dialogue),
        answer.turn,
        annotation.guideline,
        annotation.instrument_version,
        answer.question,
        people.get(annotation.annotator, annotation.annotator),
        kind,
        answer.outcome.value,
        answer.value,
        answer.replicate,
        annotation.revision,
        answer.reasoning,
        " | ".join(f"[{quote.turn}] {quote.text}" for quote in answer.evidence),
        annotation.shown.text,
        annotation.sitting or None,
        annotation.shown.suggestions_text,
    )


def _dialogue_row(dialogue: Dialogue) -> Sequence[object]:
    return (
        item_of(dialogue.key),
        dialogue.application,
        dialogue.application_version,
        dialogue.scenario,
        dialogue.level.value,
        dialogue.held_by.value,
        len(dialogue.turns),
        dialogue.ending.value,
        dialogue.repeat,
        "; ".join(f"{name}={value}" for name, value in sorted(dialogue.groups.items())),
    )


def _final_rows(evidence: Evidence, guideline: str) -> Iterator[Sequence[object]]:
    for final in (
        adjudication for adjudication in evidence.archive.adjudications() if guideline in {"", adjudication.guideline}
    ):
        yield (
            item_of(final.dialogue),
            final.guideline,
            final.question,
            final.outcome.value,
            final.value,
            final.origin.value,
            len(final.participants),
            final.rationale,
        )


def _codebook_rows(guideline: Guideline) -> Iterator[Sequence[object]]:
    rules = {rule.question: rule.condition for rule in guideline.defect_rules}
    for question in guideline.instrument.questions:
        scale = question.scale
        span = f"{scale.lowest} to {scale.highest}" if scale.lowest is not None else " | ".join(scale.categories)
        meanings = "; ".join(f"{label.value}: {label.meaning}" for label in scale.labels if label.meaning)
        yield (
            guideline.name,
            version_of(guideline),
            question.name,
            question.text,
            question.level.value,
            span or scale.kind.value,
            meanings,
            scale.orientation.value,
            question.when.text if question.when else "",
            rules.get(question.name, ""),
        )


def _criteria_row(stated: StatedCriteria) -> Sequence[object]:
    return stated.about.value, stated.revision, stated.at.isoformat(timespec="seconds"), stated.text, stated.why


FEWEST_IN_GROUP = 3
"""People below which a group of annotators is not named, as in the report; count."""


def _annotator_rows(evidence: Evidence, people: Mapping[str, str]) -> Iterator[Sequence[object]]:
    """Yield the annotators with their self-described groups; a group of one or two people is `withheld`."""
    attributes = {name: sorted(group_of.items()) for name, group_of in evidence.annotator_attributes.items()}
    sizes = {name: Counter(group for _, group in members) for name, members in attributes.items()}
    for annotator in evidence.study.annotators:
        own = {name: dict(members).get(annotator.name) for name, members in sorted(attributes.items())}
        groups = [
            f"{name}={group if sizes[name][group] >= FEWEST_IN_GROUP else 'withheld'}"
            for name, group in own.items()
            if group is not None
        ]
        name = people.get(annotator.name, annotator.name)
        yield name, annotator.kind.value, annotator.guideline, "; ".join(groups)


def _cost_rows(evidence: Evidence) -> Iterator[Sequence[object]]:
    """Yield the calls of the run by stage, application, annotator and model; they add up to those of the run."""
    rest = evidence.spending
    for part in evidence.spending_parts:
        rest -= part.spending
        yield part.stage.value, part.application, part.annotator, part.model, *_spent(part.spending)
    if rest != Spending():
        yield "replies to participants", "", "", "", *_spent(rest)


def _spent(spending: Spending) -> tuple[int, ...]:
    return (
        spending.calls,
        spending.attempts,
        spending.tokens_in,
        spending.tokens_out,
        spending.cost_microusd,
        spending.unpriced_calls,
    )


def _cell(value: object) -> str:
    """Return a value as text that no spreadsheet takes for a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) and not text.lstrip("-").isdecimal() else text


def _readme(evidence: Evidence, ending: str) -> str:
    study, run = evidence.study, evidence.run
    tables = "".join(f"{f'{name}.{ending}':<22}{words}\n" for name, words in _TABLES)
    return (
        f"Study {study.name}, run {run.number}: every answer as a row of its own.\n\n"
        f"{tables}{'schema/':<22}the guidelines, whose SHA-256 the answers name\n\n"
        "People stand under numbers (P001, ...) that are the same in every export of this run and in no other.\n"
        "Nothing here is summed up: no label was made from several people's answers.\n"
        f"Study version {run.study_version}, plan version {run.plan_version}.\n"
    )


_TABLES = (
    ("answers", "one row an answer; missing, refused and unparseable answers are rows too"),
    ("dialogues", "what the answers are about, without its words"),
    ("final_labels", "what a review agreed on, or that it could not, and final labels of files"),
    ("codebook", "every question with its scale, and which end of it is the bad one"),
    ("criteria", "how annotators were sought, chosen and given work, statement by statement"),
    ("annotators", "people by number, judges and rules, with groups of three people or more"),
    ("costs", "calls, tokens and cost by stage, application, annotator and model"),
    ("sessions", "sessions of testers: state, language, minutes, turns and task, without words"),
    ("guesses", "testers' guesses about blinded information, and whether each is right"),
    ("withdrawals", "one row a withdrawal: its kind and the number of records, without a person"),
    ("responses", "what testers answered; own words only where they were released"),
    ("codings", "codes that two people assigned to open answers, with coding_resolutions and codes"),
)


RESPONSES = (
    "session", "tester", "application", "scenario", "level", "groups", "questionnaire", "questionnaire_version",
    "question", "outcome", "value", "is_released",
)  # fmt: skip

"""Columns of the table `responses`."""


CODINGS = ("session", "questionnaire", "question", "coder", "codebook_name", "codebook_revision", "revision", "code")

"""Columns of the table `codings`."""


RESOLUTIONS = (
    "session", "questionnaire", "question", "codebook_name", "codebook_revision", "outcome", "code", "n_participants",
)  # fmt: skip

"""Columns of the table `coding_resolutions`."""


CODES = (
    "codebook_name", "codebook_revision", "codebook", "questions", "code", "definition", "include", "exclude",
    "example", "note",
)  # fmt: skip

"""Columns of the table `codes`."""


SESSIONS = (
    "session", "tester", "application", "scenario", "level", "edition", "state", "language", "minutes", "turns",
    "severe_turns", "dialogues", "task_done",
)  # fmt: skip

"""Columns of the table `sessions`."""


GUESSES = ("session", "tester", "level", "about", "guess", "n_options", "is_right")

"""Columns of the table `guesses`."""


WITHDRAWALS = ("kind", "sessions", "dialogues", "answers")

"""Columns of the table `withdrawals`."""


Rows = Iterator[Sequence[object]]


def tester_tables(evidence: Evidence) -> Iterator[tuple[str, Sequence[str], Rows]]:
    """Yield name, columns and rows of each table about testers; none without answers.

    Free text is left out, unless a person released it; the reasons
    and memos of coders are, since they may quote it.

    Args:
        evidence: All records of one run.
    """
    if evidence.event.sessions or evidence.sittings:
        yield "sessions", SESSIONS, _sessions(evidence)
    if evidence.event.guesses:
        yield "guesses", GUESSES, _guesses(evidence)
    if evidence.event.tombstones:
        counted = (
            (tombstone.kind.value, tombstone.sessions, tombstone.dialogues, tombstone.answers)
            for tombstone in evidence.event.tombstones
        )
        yield "withdrawals", WITHDRAWALS, counted
    if evidence.responses:
        yield "responses", RESPONSES, _responses(evidence)
    work = evidence.coding
    if work is not None and work.codebooks:
        yield "codings", CODINGS, _codings(evidence, work)
        yield "coding_resolutions", RESOLUTIONS, _resolutions(work)
        yield "codes", CODES, _codes(work)


def _testers(evidence: Evidence) -> Mapping[str, str]:
    """Return a number for each tester, which all tables share."""
    people = [response.participant for response in evidence.responses] + [
        session.participant for session in _all_sessions(evidence)
    ]
    return numbered(evidence, people, "T")


def _all_sessions(evidence: Evidence) -> tuple[Session, ...]:
    """Return the sessions of testers in any edition of the study."""
    return tuple({session.key: session for session in (*evidence.event.sessions, *evidence.sittings)}.values())


def _sessions(evidence: Evidence) -> Rows:
    """Yield the sessions; those of people who withdrew are left out."""
    people, record = _testers(evidence), evidence.event
    current = {sitting.key: sitting for sitting in evidence.sittings}
    for session in _all_sessions(evidence):
        if session.state is SessionState.WITHDRAWN:
            continue
        turns, severe = record.turns.get(session.key, (0, 0))
        done = current.get(session.key, session).task_done
        ended = session.clock.ended
        yield (
            item_of(session.key),
            people[session.participant],
            session.application,
            session.scenario,
            session.level.value,
            "current" if session.key in current else "earlier",
            session.state.value,
            session.language,
            "" if ended is None else round(session.clock.elapsed_s(ended) / 60, 3),
            turns,
            severe,
            record.dialogues.get(session.key, 0),
            "" if done is None else "yes" if done else "no",
        )


def _guesses(evidence: Evidence) -> Rows:
    """Yield the guesses in order of time; an empty guess is "I do not know"."""
    people, sessions = _testers(evidence), {one.key: one for one in evidence.event.sessions}
    for guess in evidence.event.guesses:
        session = sessions.get(guess.session)
        if session is None:
            continue
        truth = session.application if guess.about is GuessedThing.APPLICATION else session.level.value
        right = "" if not guess.guess else "yes" if guess.guess == truth else "no"
        place = item_of(session.key), people[session.participant], session.level.value
        yield *place, guess.about.value, guess.guess, len(guess.options), right


def _responses(evidence: Evidence) -> Rows:
    versions = {questionnaire.name: version_of(questionnaire) for questionnaire in evidence.study.questionnaires}
    people = _testers(evidence)
    quotes = {quote.answer: quote.text for quote in evidence.coding.quotes} if evidence.coding else {}
    for response in evidence.responses:
        if response.submitted and versions.get(response.questionnaire) == response.instrument_version:
            for answer in response.answers:
                yield (
                    *_place(response, people[response.participant]),
                    answer.question,
                    answer.outcome.value,
                    *_value(evidence, response, answer, quotes),
                )


def _place(response: QuestionnaireResponse, tester: str) -> Sequence[object]:
    return (
        item_of(response.session),
        tester,
        response.application,
        response.scenario,
        response.level.value if response.level else "",
        "; ".join(f"{name}={value}" for name, value in sorted(response.groups.items())),
        response.questionnaire,
        response.instrument_version,
    )


def _value(
    evidence: Evidence, response: QuestionnaireResponse, answer: Answer, quotes: Mapping[OpenAnswer, str]
) -> tuple[object, object]:
    """Return the value and whether it was released; the latter is empty if no release is needed."""
    question = evidence.study.questionnaire(response.questionnaire).instrument.question(answer.question)
    if question.scale.kind is not ScaleKind.TEXT:
        return answer.value, ""
    about = OpenAnswer(session=response.session, questionnaire=response.questionnaire, question=answer.question)
    return quotes.get(about, ""), "yes" if about in quotes else "no"


def _codings(evidence: Evidence, work: CodingWork) -> Rows:
    """Yield a row for each assigned code, and one without a code if none applied."""
    coders = numbered(evidence, [coding.coder for coding in work.codings], "C")
    for coding in work.codings:
        for code in coding.codes or ("",):
            yield (
                *_about(coding.answer),
                coders[coding.coder],
                *_revision(work, coding.codebook),
                coding.revision,
                code,
            )


def _resolutions(work: CodingWork) -> Rows:
    for resolution in work.resolutions:
        outcome = "no consensus" if resolution.codes is None else "consensus"
        for code in resolution.codes or ("",):
            yield (
                *_about(resolution.answer),
                *_revision(work, resolution.codebook),
                outcome,
                code,
                len(resolution.participants),
            )


def _codes(work: CodingWork) -> Rows:
    for version, book in work.codebooks.items():
        for code in book.codes:
            questions = "; ".join(book.covers)
            yield (book.name, book.revision, version, questions, code.name, *code.meaning, code.example, book.note)


def _about(answer: OpenAnswer) -> tuple[str, str, str]:
    return item_of(answer.session), answer.questionnaire, answer.question


def _revision(work: CodingWork, version: str) -> tuple[object, object]:
    book = work.codebooks.get(version)
    return (book.name, book.revision) if book else ("", "")
