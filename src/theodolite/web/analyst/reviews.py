"""Combined reviews: a session's dialogues and questionnaire are read together, by people who are not blind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.assessment.blinding import mask_for
from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.evidence import Evidence
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.risk import CombinedReview, Identification, Impact, Risk, RiskFinding
from theodolite.measurement.study.risks import COMBINED, risk_findings, signs_of
from theodolite.reporting import figures
from theodolite.usecases.reviewing_risks import keep_review
from theodolite.web.analyst.desk import ReadingDesk, at_reading_desk
from theodolite.web.audit import audit
from theodolite.web.safe_text import safe_html

LONGEST = 4000
"""Letters of a reason at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskLine:
    """One risk with one application at one level, in words."""

    risk: str
    description: str
    identified_by: str
    where: str
    found: str
    records: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLine:
    """One session that is to be reviewed for one risk, or was; application and tester stay unsaid."""

    token: str
    risk: str
    level: str
    found: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """One turn of a dialogue, made safe to be shown."""

    number: int
    prompt: str
    response: SafeString


@at_reading_desk
@require_GET
def reviews(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """Show what is to be reviewed, what was, and where each risk became real by which way of looking."""
    evidence = desk.evidence()
    found = risk_findings(evidence)
    context = {
        "here": desk.here,
        "due": [line for one in found for line in _due(desk, one)],
        "done": [_done(desk, evidence, one) for one in _latest(evidence).values()],
        "lines": [_line(one) for one in found],
        "has_combined": any(one.identified_by is Identification.BOTH for one in desk.study.risks),
    }
    return render(request, "web/analyst/reviews.html", context)


def _due(desk: ReadingDesk, found: RiskFinding) -> Iterator[ReviewLine]:
    for session in found.pending:
        yield ReviewLine(token=desk.token_of(found.risk.name, session), risk=found.risk.name, level=found.level.value)


def _latest(evidence: Evidence) -> dict[tuple[str, str], CombinedReview]:
    return {(one.risk, one.session): one for one in evidence.reviews}


def _done(desk: ReadingDesk, evidence: Evidence, one: CombinedReview) -> ReviewLine:
    level = next((each.level for each in evidence.responses if each.session == one.session), None)
    return ReviewLine(
        token=desk.token_of(one.risk, one.session),
        risk=one.risk,
        level=level.value if level else "",
        found="became real" if one.materialised else "did not become real",
    )


def _line(found: RiskFinding) -> RiskLine:
    units = {record.dialogue or record.session for record in found.materialised}
    whole = f"{figures.count(len(units))} of {figures.count(found.n)}"
    pending = f", {figures.count(len(found.pending))} still to be reviewed" if found.pending else ""
    dismissed = f", {figures.count(found.n_dismissed)} reviewed and not" if found.n_dismissed else ""
    return RiskLine(
        risk=found.risk.name,
        description=found.risk.description,
        identified_by=found.risk.identified_by.value,
        where=f"{found.application}, {found.level.value}",
        found=f"{whole}{dismissed}{pending}",
        records=tuple(
            (record.dialogue or f"session {record.session[:8]}", _by(record.shown_by, len(record.by)))
            for record in found.materialised
        ),
    )


def _by(shown_by: str, n_people: int) -> str:
    """Return what shows a record, and of which kind that is."""
    if shown_by == COMBINED:
        return "combined review"
    if n_people:
        return f"annotation: {shown_by}, by {figures.number_of(n_people, 'annotator')}"
    return f"questionnaire: {shown_by}"


@at_reading_desk
@require_http_methods(["GET", "POST"])
def review(request: HttpRequest, desk: ReadingDesk, due: str) -> HttpResponse:
    """Show a session's dialogues beside its answers, or record whether the risk became real in it."""
    evidence = desk.evidence()
    risk, session = _meant(desk, evidence, due)
    problem = ""
    if request.method == "POST":
        try:
            _record(request, desk, risk, session)
        except InputError as error:
            problem = str(error)
        else:
            messages.success(request, "Recorded.")
            return redirect(desk.address("reviews"))
    context = _sheet(desk, evidence, risk, session) | {"problem": problem, "posted": request.POST}
    return render(request, "web/analyst/review.html", context, status=422 if problem else 200)


def _meant(desk: ReadingDesk, evidence: Evidence, token: str) -> tuple[Risk, str]:
    """Return the risk and the session that an address means; only what waits for a review or had one exists."""
    pairs = [(one.risk, session) for one in risk_findings(evidence) for session in one.pending]
    risks = {one.name: one for one in desk.study.risks}
    pairs += [(risks[name], session) for name, session in _latest(evidence) if name in risks]
    for risk, session in pairs:
        if desk.token_of(risk.name, session) == token:
            return risk, session
    raise Http404


def _record(request: HttpRequest, desk: ReadingDesk, risk: Risk, session: str) -> None:
    found = request.POST.get("materialised", "")
    if found not in {"yes", "no"} or not request.POST.get("rationale", "").strip():
        message = "say whether the risk became real, and in a few words why"
        raise InputError(message)
    magnitude = request.POST.get("magnitude", "")
    given = CombinedReview(
        study=desk.study.name,
        risk=risk.name,
        session=session,
        materialised=found == "yes",
        reviewer=desk.reader,
        rationale=request.POST["rationale"].strip()[:LONGEST],
        magnitude=int(magnitude) if found == "yes" and magnitude.isdecimal() else None,
        impact=Impact(request.POST.get("impact", "")) if found == "yes" and _is_impact(request) else Impact.NEITHER,
    )
    keep_review(desk.store, desk.study, desk.venue.run, given)
    audit(
        desk.here.account,
        "reviewed a session",
        f"session {desk.token_of(risk.name, session)}",
        hosted=desk.here.hosted,
        risk=risk.name,
    )


def _is_impact(request: HttpRequest) -> bool:
    return request.POST.get("impact") in {one.value for one in Impact}


def _sheet(desk: ReadingDesk, evidence: Evidence, risk: Risk, session: str) -> dict[str, object]:
    answers = [one for one in evidence.responses if one.session == session and one.submitted]
    earlier = [one for one in evidence.reviews if (one.risk, one.session) == (risk.name, session)]
    return {
        "here": desk.here,
        "risk": risk,
        "signs": [sign for one in answers for sign in signs_of(evidence, risk, one)],
        "dialogues": _said(desk, answers),
        "answers": [line for one in answers for line in _answered(desk, one)],
        "earlier": earlier[-1] if earlier else None,
        "impacts": [one.value for one in Impact],
        "points": [str(point) for point in range(1, 11)],
        "longest": LONGEST,
    }


def _said(desk: ReadingDesk, answers: list[QuestionnaireResponse]) -> list[list[SaidTurn]]:
    """Return the session's dialogues, in order; names of applications are masked."""
    keys = list(dict.fromkeys(key for one in answers for key in one.dialogues))
    held, mask = desk.store.dialogues_of(keys), mask_for(desk.study)
    return [
        [
            SaidTurn(number=turn.number, prompt=mask(turn.prompt), response=safe_html(mask(turn.response)))
            for turn in held[key].turns
        ]
        for key in keys
    ]


def _answered(desk: ReadingDesk, response: QuestionnaireResponse) -> Iterator[tuple[str, str]]:
    """Yield each question with what was answered, in the order of the questionnaire."""
    for question in desk.study.questionnaire(response.questionnaire).instrument.questions:
        given = response.to(question.name)
        values = [one.value if one.value is not None else one.outcome.value for one in given]
        absent = Outcome.NOT_APPLICABLE if question.when else Outcome.MISSING
        yield question.text, ", ".join(values) or absent.value
