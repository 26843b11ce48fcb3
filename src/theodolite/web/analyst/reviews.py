"""Reviews of sessions: dialogue and questionnaire together, and labels next to answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
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
from theodolite.domain.findings.risks import CombinedReview, RiskFinding
from theodolite.domain.instrument import Condition, Operator
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.domain.study_parts import Risk
from theodolite.events.next_steps import RoleStep, step_of_analyst
from theodolite.events.results import current_responses, submitted_count
from theodolite.measurement.study.risks import COMBINED, risk_findings, signs_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import found_words, open_words
from theodolite.usecases.measuring import keep_review, reviews_of
from theodolite.web.access import AccessContext
from theodolite.web.analyst.responses import (
    AnalystContext,
    Figures,
    answered_in,
    for_analysts,
    is_blind,
    latest_figures,
    said_in,
)
from theodolite.web.events import open_event_of
from theodolite.web.next_steps import NextStepCard, next_step_card
from theodolite.web.participants import zone_of
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
    return render(request, "web/analyst/sessions.html", context)


@for_analysts
@require_GET
def comparison(request: HttpRequest, analyst: AnalystContext, session: str) -> HttpResponse:
    """Show a session: dialogues, answers of the tester, and labels of annotators under letters."""
    keys = settled_keys(analyst.study, analyst.event.run)
    _, key = analyst.meant(session, ((KIND, key) for key in keys))
    answers = [response for response in analyst.event.responses.of_session(key) if response.submitted]
    return render(request, "web/analyst/session_answers.html", _comparison_page(analyst, answers))


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
    n_records: int
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
    """Show open and completed reviews page by page, and where each risk materialised by each method."""
    measured, reviewed = latest_risks(analyst), _reviewed(analyst)
    due = _open_reviews(measured["findings"], reviewed)
    page, page_done = page_number(request), page_number(request, "done")
    done = list(reviewed.values())
    shown, shown_done = due[page * PAGE : (page + 1) * PAGE], done[page_done * PAGE : (page_done + 1) * PAGE]
    keys = dict.fromkeys([*(session for _, session in shown), *(review.session for review in shown_done)])
    answers = _answers_by_session(analyst, list(keys))
    context = measured | {
        "access": analyst.access,
        "due": [
            (number, _due(analyst, risk, session, answers[session]))
            for number, (risk, session) in enumerate(shown, start=page * PAGE + 1)
        ],
        "n_due": len(due),
        "pages": Pages(page=page, n=len(due), size=PAGE),
        "done": [_done(analyst, review, answers[review.session]) for review in shown_done],
        "pages_done": Pages(page=page_done, n=len(done), size=PAGE),
        "blocks": list(_blocks(analyst, measured["findings"])),
        "has_combined": any(risk.identified_by is Identification.BOTH for risk in analyst.study.risks),
        "zone": zone_of(analyst.study).key,
    }
    return render(request, "web/analyst/reviews.html", context)


def latest_risks(analyst: AnalystContext) -> Figures:
    """Return the findings about risks with the time of a large study, as `latest_figures` does; none while they wait.

    Args:
        analyst: The context of the reader.
    """
    figures = latest_figures(
        (analyst.event.plan.run_fingerprint, "risks"),
        lambda: {"findings": risk_findings(analyst.evidence())},
        n_responses=len(
            analyst.store.events.sessions.keys(analyst.study.name)
        ),  # the evidence reads earlier versions too
        now=timezone.now(),
    )
    return {"findings": ()} | figures


def _reviewed(analyst: AnalystContext) -> dict[tuple[str, str], CombinedReview]:
    """Return the latest review of each risk and session."""
    return {(review.risk, review.session): review for review in reviews_of(analyst.store, analyst.study)}


def _open_reviews(
    findings: Iterable[RiskFinding], reviewed: Collection[tuple[str, str]]
) -> list[tuple[RiskFinding, str]]:
    """Return the sessions that wait for a review of a risk, except those reviewed since the findings were computed."""
    return [
        (finding, session)
        for finding in findings
        for session in finding.pending
        if (finding.risk.name, session) not in reviewed
    ]


def _answers_by_session(analyst: AnalystContext, keys: Sequence[str]) -> dict[str, list[QuestionnaireResponse]]:
    """Return the current responses to some sessions."""
    answers: dict[str, list[QuestionnaireResponse]] = defaultdict(list)
    for response in current_responses(analyst.store, analyst.study, sessions=keys):
        answers[response.session].append(response)
    return answers


def _due(
    analyst: AnalystContext, finding: RiskFinding, session: str, answers: Sequence[QuestionnaireResponse]
) -> ReviewLine:
    submitted = [response for response in answers if response.submitted]
    return ReviewLine(
        token=analyst.token_of(finding.risk.name, session),
        risk=finding.risk.name,
        level=finding.level.value,
        signs=tuple(_signs(analyst.study, finding.risk, submitted)),
    )


def _signs(study: Study, risk: Risk, answers: Sequence[QuestionnaireResponse]) -> Iterator[str]:
    """Yield each answer that shows a risk, with its question."""
    for response in answers:
        for condition in signs_of(study, risk, response):
            name, _, question = condition.question.rpartition(".")
            values = ", ".join(answer.value for answer in response.to(question) if answer.value is not None)
            yield f"{study.questionnaire(name).instrument.question(question).text} {values}"


def _done(analyst: AnalystContext, review: CombinedReview, answers: Sequence[QuestionnaireResponse]) -> ReviewLine:
    level = next((response.level for response in answers), None)
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
        n_records=len(risk_finding.materialised),
        records=tuple(
            (record.dialogue or f"session {record.session[:8]}", _by(record.shown_by, len(record.by)))
            for record in risk_finding.materialised[:PAGE]
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
    risk, session = _meant(analyst, due)
    problem = ""
    if request.method == "POST":
        try:
            _record(request, analyst, risk, session)
        except InputError as error:
            problem = str(error)
        else:
            messages.success(request, "Recorded.")
            return redirect(analyst.address("reviews"))
    context = _review_page(analyst, risk, session) | {"problem": problem, "posted": request.POST}
    return render(request, "web/analyst/review.html", context, status=422 if problem else 200)


def _meant(analyst: AnalystContext, token: str) -> tuple[Risk, str]:
    """Return the risk and session of a token; only sessions with an open or completed review qualify."""
    risks = {risk.name: risk for risk in analyst.study.risks if risk.identified_by is Identification.BOTH}
    keys = analyst.store.events.sessions.keys(analyst.study.name)
    name, session = analyst.meant(token, ((name, key) for name in risks for key in keys))
    if (name, session) not in _reviewed(analyst):
        findings = risk_findings(analyst.evidence_about(session))
        if not any(finding.risk.name == name and session in finding.pending for finding in findings):
            raise Http404
    return risks[name], session


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


def _review_page(analyst: AnalystContext, risk: Risk, session: str) -> dict[str, object]:
    answers = [response for response in _answers_by_session(analyst, [session])[session] if response.submitted]
    return {
        "access": analyst.access,
        "risk": risk,
        "signs": list(_signs(analyst.study, risk, answers)),
        "dialogues": said_in(analyst, list(dict.fromkeys(key for answer in answers for key in answer.dialogues))),
        "answers": [line for answer in answers for line in answered_in(analyst, answer)],
        "earlier": _reviewed(analyst).get((risk.name, session)),
        "impacts": [impact.value for impact in Impact],
        "points": [str(point) for point in range(1, 11)],
        "longest": LONGEST,
    }


def next_step_of_analyst(access: AccessContext) -> NextStepCard | None:
    """Return the next step of an analyst; None for people who are blinded."""
    if is_blind(access):
        return None
    analyst = AnalystContext(access=access, event=open_event_of(access.hosted).event)
    index = analyst.coding_index()
    counts = {
        RoleStep.REVIEW_RISKS: _n_due(analyst),
        RoleStep.CODE_ANSWERS: len(index.waiting(analyst.reader)),
        RoleStep.SETTLE_CODES: sum(state is CodedState.DISPUTED for state in index.states()),
        RoleStep.WRITE_CODEBOOK: sum(index.work.codebook_for(place) is None for place in index.places),
    }
    step = step_of_analyst(
        n_submitted=submitted_count(analyst.store, analyst.study),
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
    return len(_open_reviews(latest_risks(analyst)["findings"], _reviewed(analyst)))
