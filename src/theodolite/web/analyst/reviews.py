"""Combined reviews: a session's dialogues and questionnaire are read together, by people who are not blind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.domain.choices import Identification, Impact
from theodolite.domain.errors import InputError
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.risks import CombinedReview, RiskFinding
from theodolite.domain.instrument import Condition, Operator
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.risk import Risk
from theodolite.domain.study import Study
from theodolite.measurement.study.risks import COMBINED, risk_findings, signs_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.risks import found_words, open_words
from theodolite.usecases.reviewing_risks import keep_review
from theodolite.web.analyst.desk import ReadingDesk, at_reading_desk
from theodolite.web.analyst.session import answered_in, said_in
from theodolite.web.audit import audit

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
    """One risk with one application at one level, in words: where, what was found, what is open, and each record."""

    where: str
    found: str
    open: str
    records: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskBlock:
    """One risk: what it is, what shows it, and where it became real."""

    name: str
    description: str
    shown_by: str
    lines: tuple[RiskLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLine:
    """One session that is to be reviewed for one risk, or was; application and tester stay unsaid."""

    token: str
    risk: str
    level: str
    found: str = ""
    signs: tuple[str, ...] = ()


@at_reading_desk
@require_GET
def reviews(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """Show what is to be reviewed, what was, and where each risk became real by which way of looking."""
    evidence = desk.evidence()
    found = risk_findings(evidence)
    context = {
        "here": desk.here,
        "due": [line for one in found for line in _due(desk, evidence, one)],
        "done": [_done(desk, evidence, one) for one in _latest(evidence).values()],
        "blocks": list(_blocks(desk, found)),
        "has_combined": any(one.identified_by is Identification.BOTH for one in desk.study.risks),
    }
    return render(request, "web/analyst/reviews.html", context)


def _due(desk: ReadingDesk, evidence: Evidence, found: RiskFinding) -> Iterator[ReviewLine]:
    answers: dict[str, list[QuestionnaireResponse]] = defaultdict(list)
    for one in evidence.responses:
        if one.submitted:
            answers[one.session].append(one)
    for session in found.pending:
        yield ReviewLine(
            token=desk.token_of(found.risk.name, session),
            risk=found.risk.name,
            level=found.level.value,
            signs=tuple(_signs(desk.study, found.risk, answers[session])),
        )


def _signs(study: Study, risk: Risk, answers: Sequence[QuestionnaireResponse]) -> Iterator[str]:
    """Yield each answer that shows a risk, with what was asked."""
    for one in answers:
        for condition in signs_of(study, risk, one):
            name, _, asked = condition.question.rpartition(".")
            values = ", ".join(answer.value for answer in one.to(asked) if answer.value is not None)
            yield f"{study.questionnaire(name).instrument.question(asked).text} {values}"


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


def _blocks(desk: ReadingDesk, findings: Sequence[RiskFinding]) -> Iterator[RiskBlock]:
    for risk in dict.fromkeys(one.risk for one in findings):
        yield RiskBlock(
            name=risk.name,
            description=risk.description,
            shown_by=_shown_by(desk.study, risk),
            lines=tuple(_line(one) for one in findings if one.risk == risk),
        )


def _shown_by(study: Study, risk: Risk) -> str:
    """Return what shows a risk, in words: rules for dialogues, answers, or both and then a person."""
    rules = f"annotators of dialogues, by {', '.join(risk.rules)}"
    answers = "answers of testers: " + "; ".join(_asked(study, one) for one in risk.answers)
    if risk.identified_by is Identification.DIALOGUE:
        return rules
    return answers if risk.identified_by is Identification.QUESTIONNAIRE else f"{answers}, or {rules}; then read here"


def _asked(study: Study, condition: Condition) -> str:
    name, _, asked = condition.question.rpartition(".")
    limits = " or ".join(condition.values)
    return f"{study.questionnaire(name).instrument.question(asked).text} {_SAID[condition.operator]} {limits}"


def _line(found: RiskFinding) -> RiskLine:
    return RiskLine(
        where=f"{found.application}, {found.level.value}",
        found=found_words(found),
        open=open_words(found),
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
        "signs": list(_signs(desk.study, risk, answers)),
        "dialogues": said_in(desk, list(dict.fromkeys(key for one in answers for key in one.dialogues))),
        "answers": [line for one in answers for line in answered_in(desk, one)],
        "earlier": earlier[-1] if earlier else None,
        "impacts": [one.value for one in Impact],
        "points": [str(point) for point in range(1, 11)],
        "longest": LONGEST,
    }
