"""Exporting what testers answered: one row an answer, one a coding; words only where they were released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from theodolite.domain.annotating.label_sample import item_of
from theodolite.domain.annotation import Answer
from theodolite.domain.codings.coded import CodingWork
from theodolite.domain.codings.coding import OpenAnswer
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.reporting.found.pseudonyms import numbered

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

Rows = Iterator[Sequence[object]]


def tester_tables(evidence: Evidence) -> Iterator[tuple[str, Sequence[str], Rows]]:
    """Yield name, columns and rows of each table about testers; none where nobody answered.

    What was written in own words is left out, unless somebody released it; the reasons
    and memos of coders are, since they may quote it.

    Args:
        evidence: All records of one run.
    """
    if evidence.responses:
        yield "responses", RESPONSES, _responses(evidence)
    work = evidence.coding
    if work is not None and work.codebooks:
        yield "codings", CODINGS, _codings(evidence, work)
        yield "coding_resolutions", RESOLUTIONS, _resolutions(work)
        yield "codes", CODES, _codes(work)


def _responses(evidence: Evidence) -> Rows:
    versions = {one.name: version_of(one) for one in evidence.study.questionnaires}
    people = numbered(evidence, [one.participant for one in evidence.responses], "T")
    quotes = {one.answer: one.text for one in evidence.coding.quotes} if evidence.coding else {}
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
    """Return the value and whether it was released; the latter is empty where it did not have to be."""
    question = evidence.study.questionnaire(response.questionnaire).instrument.question(answer.question)
    if question.scale.kind is not ScaleKind.TEXT:
        return answer.value, ""
    about = OpenAnswer(session=response.session, questionnaire=response.questionnaire, question=answer.question)
    return quotes.get(about, ""), "yes" if about in quotes else "no"


def _codings(evidence: Evidence, work: CodingWork) -> Rows:
    """Yield a row for each code that was given, and one without a code where none fitted."""
    coders = numbered(evidence, [one.coder for one in work.codings], "C")
    for one in work.codings:
        for code in one.codes or ("",):
            yield (*_about(one.answer), coders[one.coder], *_revision(work, one.codebook), one.revision, code)


def _resolutions(work: CodingWork) -> Rows:
    for one in work.resolutions:
        outcome = "no consensus" if one.codes is None else "consensus"
        for code in one.codes or ("",):
            yield (*_about(one.answer), *_revision(work, one.codebook), outcome, code, len(one.participants))


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
