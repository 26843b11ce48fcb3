"""Reviews of sessions: dialogue and questionnaire together, and labels next to answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.annotation.comparisons import (
    SettledSession,
    annotations_about,
    comparison_counts,
    settled_keys,
    settled_sessions,
)
from theodolite.annotation.rules import letters_for
from theodolite.domain.annotating.discrepancy import Position
from theodolite.domain.annotation import Annotation, AnnotatorKind
from theodolite.domain.choices import Identification, Impact
from theodolite.domain.coding import CodedState
from theodolite.domain.errors import InputError
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.risks import CombinedReview, RiskFinding
from theodolite.domain.instrument import Condition, Operator
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.domain.study_parts import Risk
from theodolite.events.next_steps import RoleStep, step_of_analyst
from theodolite.measurement.study.risks import COMBINED, risk_findings, signs_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import found_words, open_words
from theodolite.usecases.measuring import keep_review
from theodolite.web.access import AccessContext
from theodolite.web.analyst.responses import AnalystContext, answered_in, for_analysts, is_blind, said_in
from theodolite.web.events import open_event_of
from theodolite.web.next_steps import NextStepCard, next_step_card
from theodolite.web.questions import SideBySide, humanize, votes_side_by_side
from theodolite.web.senior.home import Pages, page_number

KIND = "session comparison"
"""Separates the tokens of sessions from other tokens."""

PAGE = 50
"""Sessions on one page of the comparison; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryLabels:
    """The labels of a dialogue in one category."""

    title: str
    places: tuple[SideBySide, ...]


@for_analysts
@require_GET
def comparisons(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """List the sessions with a submitted questionnaire and completed labels."""
    page, run = page_number(request), analyst.event.run
    n_settled, n_open = comparison_counts(analyst.study, run)
    context = {
        "access": analyst.access,
        "lines": [
            (page * PAGE + index, analyst.token_of(KIND, session.key), session, _labels_text(session))
            for index, session in enumerate(settled_sessions(analyst.study, run, start=page * PAGE, size=PAGE), start=1)
        ],
        "n_settled": n_settled,
        "n_open": n_open,
        "pages": Pages(page=page, n=n_settled, size=PAGE),
    }
    return render(request, "web/analyst/settled.html", context)


@for_analysts
@require_GET
def comparison(request: HttpRequest, analyst: AnalystContext, session: str) -> HttpResponse:
    """Show a session: dialogues, answers of the tester, and labels of annotators under letters."""
    keys = settled_keys(analyst.study, analyst.event.run)
    key = next((key for key in keys if analyst.token_of(KIND, key) == session), None)
    if key is None:
        raise Http404
    answers = [response for response in analyst.event.responses.of_session(key) if response.submitted]
    return render(request, "web/analyst/both_sides.html", _comparison_page(analyst, answers))


def _labels_text(session: SettledSession) -> str:
    annotations = figures.number_of(session.n_annotations, "annotation")
    return f"{annotations} in {figures.number_of(session.n_categories, 'category', 'categories')}"


def _comparison_page(analyst: AnalystContext, answers: Sequence[QuestionnaireResponse]) -> dict[str, object]:
    keys = answers[0].dialogues
    annotations = annotations_about(analyst.study, analyst.event.run, keys)
    return {
        "access": analyst.access,
        "application": answers[0].application,
        "level": answers[0].level.value if answers[0].level else "",
        "dialogues": said_in(analyst, keys),
        "answers": [line for answer in answers for line in answered_in(analyst, answer)],
        "voices": [list(_category_labels(analyst, annotations[key])) for key in keys],
    }


def _category_labels(analyst: AnalystContext, annotations: Sequence[Annotation]) -> Iterator[CategoryLabels]:
    """Yield the labels of one dialogue by category; letters differ between categories."""
    programs = {annotator.name for annotator in analyst.study.annotators if annotator.kind is not AnnotatorKind.PERSON}
    for guideline in analyst.study.guidelines:
        own = [annotation for annotation in annotations if annotation.guideline == guideline.name]
        letters = letters_for([annotation.annotator for annotation in own], f"{analyst.event.run.key} {guideline.name}")
        positions = [
            Position(letter=letters[annotation.annotator], answer=answer, is_model=annotation.annotator in programs)
            for annotation in sorted(own, key=lambda annotation: letters[annotation.annotator])
            for answer in annotation.answers
            if answer.replicate == 1
        ]
        if own:
            yield CategoryLabels(title=humanize(guideline.name), places=votes_side_by_side(guideline, positions))


LONGEST = 4000
"""Letters of a reason at most; count."""

_SAID = {
    Operator.EQUAL: "is",
    Operator.UNEQUAL: "is not",
    Operator.BELOW: "is below",
    Operator.AT_MOST: "is at most",
    Operator.ABOVE: "is above",
    Operator.AT_LEAST: "is at least",
    Operator.ONE_OF: "is",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskLine:
    """One risk with one application at one level, as text."""

    where: str
    found: str
    open: str
    records: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskBlock:
    """A risk with its signs and the places where it materialised."""

    name: str
    description: str
    shown_by: str
    lines: tuple[RiskLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLine:
    """A session that needs or has a review of a risk; application and tester are not shown."""

    token: str
    risk: str
    level: str
    found: str = ""
    signs: tuple[str, ...] = ()


@for_analysts
@require_GET
def reviews(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Show open and completed reviews, and where each risk materialised by each method."""
    evidence = analyst.evidence()
    findings = risk_findings(evidence)
    context = {
        "access": analyst.access,
        "due": [line for due in findings for line in _due(analyst, evidence, due)],
        "done": [_done(analyst, evidence, response) for response in _latest(evidence).values()],
        "blocks": list(_blocks(analyst, findings)),
        "has_combined": any(risk.identified_by is Identification.BOTH for risk in analyst.study.risks),
    }
    return render(request, "web/analyst/reviews.html", context)


def _due(analyst: AnalystContext, evidence: Evidence, risk_finding: RiskFinding) -> Iterator[ReviewLine]:
    answers: dict[str, list[QuestionnaireResponse]] = defaultdict(list)
    for response in evidence.responses:
        if response.submitted:
            answers[response.session].append(response)
    for session in risk_finding.pending:
        yield ReviewLine(
            token=analyst.token_of(risk_finding.risk.name, session),
            risk=risk_finding.risk.name,
            level=risk_finding.level.value,
            signs=tuple(_signs(analyst.study, risk_finding.risk, answers[session])),
        )


def _signs(study: Study, risk: Risk, answers: Sequence[QuestionnaireResponse]) -> Iterator[str]:
    """Yield each answer that shows a risk, with its question."""
    for response in answers:
        for condition in signs_of(study, risk, response):
            name, _, question = condition.question.rpartition(".")
            values = ", ".join(answer.value for answer in response.to(question) if answer.value is not None)
            yield f"{study.questionnaire(name).instrument.question(question).text} {values}"


def _latest(evidence: Evidence) -> dict[tuple[str, str], CombinedReview]:
    return {(review.risk, review.session): review for review in evidence.reviews}


def _done(analyst: AnalystContext, evidence: Evidence, review: CombinedReview) -> ReviewLine:
    level = next((response.level for response in evidence.responses if response.session == review.session), None)
    return ReviewLine(
        token=analyst.token_of(review.risk, review.session),
        risk=review.risk,
        level=level.value if level else "",
        found="materialised" if review.materialised else "not materialised",
    )


def _blocks(analyst: AnalystContext, findings: Sequence[RiskFinding]) -> Iterator[RiskBlock]:
    for risk in dict.fromkeys(finding.risk for finding in findings):
        yield RiskBlock(
            name=risk.name,
            description=risk.description,
            shown_by=_shown_by(analyst.study, risk),
            lines=tuple(_review_line(finding) for finding in findings if finding.risk == risk),
        )


def _shown_by(study: Study, risk: Risk) -> str:
    """Return the signs of a risk as text: rules for dialogues, answers, or both, with a review."""
    rules = f"annotators of dialogues, by {', '.join(risk.rules)}"
    answers = "answers of testers: " + "; ".join(_asked(study, answer) for answer in risk.answers)
    if risk.identified_by is Identification.DIALOGUE:
        return rules
    return answers if risk.identified_by is Identification.QUESTIONNAIRE else f"{answers}, or {rules}; then read here"


def _asked(study: Study, condition: Condition) -> str:
    name, _, question = condition.question.rpartition(".")
    limits = " or ".join(condition.values)
    return f"{study.questionnaire(name).instrument.question(question).text} {_SAID[condition.operator]} {limits}"


def _review_line(risk_finding: RiskFinding) -> RiskLine:
    return RiskLine(
        where=f"{risk_finding.application}, {risk_finding.level.value}",
        found=found_words(risk_finding),
        open=open_words(risk_finding),
        records=tuple(
            (record.dialogue or f"session {record.session[:8]}", _by(record.shown_by, len(record.by)))
            for record in risk_finding.materialised
        ),
    )


def _by(shown_by: str, n_people: int) -> str:
    """Return the sign of a record, and its kind."""
    if shown_by == COMBINED:
        return "combined review"
    if n_people:
        return f"annotation: {shown_by}, by {figures.number_of(n_people, 'annotator')}"
    return f"questionnaire: {shown_by}"


@for_analysts
@require_http_methods(["GET", "POST"])
def review(request: HttpRequest, analyst: AnalystContext, due: str) -> HttpResponse:
    """Show the dialogues of a session next to its answers, or record a review."""
    evidence = analyst.evidence()
    risk, session = _meant(analyst, evidence, due)
    problem = ""
    if request.method == "POST":
        try:
            _record(request, analyst, risk, session)
        except InputError as error:
            problem = str(error)
        else:
            messages.success(request, "Recorded.")
            return redirect(analyst.address("reviews"))
    context = _review_page(analyst, evidence, risk, session) | {"problem": problem, "posted": request.POST}
    return render(request, "web/analyst/review.html", context, status=422 if problem else 200)


def _meant(analyst: AnalystContext, evidence: Evidence, token: str) -> tuple[Risk, str]:
    """Return the risk and session of a token; only sessions with an open or completed review qualify."""
    pairs = [(finding.risk, session) for finding in risk_findings(evidence) for session in finding.pending]
    risks = {risk.name: risk for risk in analyst.study.risks}
    pairs += [(risks[name], session) for name, session in _latest(evidence) if name in risks]
    for risk, session in pairs:
        if analyst.token_of(risk.name, session) == token:
            return risk, session
    raise Http404


def _record(request: HttpRequest, analyst: AnalystContext, risk: Risk, session: str) -> None:
    materialised = request.POST.get("materialised", "")
    if materialised not in {"yes", "no"} or not request.POST.get("rationale", "").strip():
        message = "select whether the risk materialised, and give a short reason"
        raise InputError(message)
    magnitude = request.POST.get("magnitude", "")
    combined_review = CombinedReview(
        study=analyst.study.name,
        risk=risk.name,
        session=session,
        materialised=materialised == "yes",
        reviewer=analyst.reader,
        rationale=request.POST["rationale"].strip()[:LONGEST],
        magnitude=int(magnitude) if materialised == "yes" and magnitude.isdecimal() else None,
        impact=Impact(request.POST.get("impact", ""))
        if materialised == "yes" and _is_impact(request)
        else Impact.NEITHER,
    )
    keep_review(analyst.store, analyst.study, analyst.event.run, combined_review)
    analyst.access.audit("reviewed a session", f"session {analyst.token_of(risk.name, session)}", risk=risk.name)


def _is_impact(request: HttpRequest) -> bool:
    return request.POST.get("impact") in {impact.value for impact in Impact}


def _review_page(analyst: AnalystContext, evidence: Evidence, risk: Risk, session: str) -> dict[str, object]:
    answers = [response for response in evidence.responses if response.session == session and response.submitted]
    earlier = [review for review in evidence.reviews if (review.risk, review.session) == (risk.name, session)]
    return {
        "access": analyst.access,
        "risk": risk,
        "signs": list(_signs(analyst.study, risk, answers)),
        "dialogues": said_in(analyst, list(dict.fromkeys(key for answer in answers for key in answer.dialogues))),
        "answers": [line for answer in answers for line in answered_in(analyst, answer)],
        "earlier": earlier[-1] if earlier else None,
        "impacts": [impact.value for impact in Impact],
        "points": [str(point) for point in range(1, 11)],
        "longest": LONGEST,
    }


def next_step_of_analyst(access: AccessContext) -> NextStepCard | None:
    """Return the next step of an analyst; None for people who are blinded."""
    if is_blind(access):
        return None
    analyst = AnalystContext(access=access, event=open_event_of(access.hosted).event)
    project = analyst.coding_project()
    uncovered = [key for key in project.questions if project.work.codebook_for(key) is None]
    counts = {
        RoleStep.REVIEW_RISKS: _n_due(analyst),
        RoleStep.CODE_ANSWERS: len(project.waiting(analyst.reader)),
        RoleStep.SETTLE_CODES: sum(unit.state is CodedState.DISPUTED for unit in project.coded),
        RoleStep.WRITE_CODEBOOK: len(uncovered),
    }
    step = step_of_analyst(
        n_submitted=sum(response.submitted for response in analyst.responses()),
        n_uncovered=counts[RoleStep.WRITE_CODEBOOK],
        n_to_code=counts[RoleStep.CODE_ANSWERS],
        n_disputed=counts[RoleStep.SETTLE_CODES],
        n_reviews=counts[RoleStep.REVIEW_RISKS],
    )
    return next_step_card(step, access.hosted.token, n=counts.get(step, 1))


def _n_due(analyst: AnalystContext) -> int:
    """Return how many sessions wait for a combined review; studies without such risks read no evidence."""
    if all(risk.identified_by is not Identification.BOTH for risk in analyst.study.risks):
        return 0
    return sum(len(finding.pending) for finding in risk_findings(analyst.evidence()))
