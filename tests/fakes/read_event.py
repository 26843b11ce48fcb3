"""Things of the seeded event that readers' addresses name."""

from __future__ import annotations

from theodolite.annotation.queues import add_dialogues, open_queue
from theodolite.assessment.manual_annotation import annotation_by, person_of
from theodolite.domain.annotating.case import CaseAct, FlagKind, TurnText
from theodolite.domain.annotating.work import QueueCategory, QueueDesign
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.coding import CodedState
from theodolite.domain.dialogue import Level
from theodolite.domain.event import Role
from theodolite.domain.identity import version_of
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.measurement.study.risks import risk_findings
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import CaseRow, CaseStepRow, RedactionRow
from theodolite.store.statements import database_now
from theodolite.web.access import AccessContext
from theodolite.web.analyst.codebooks import book_token
from theodolite.web.analyst.responses import AnalystContext
from theodolite.web.analyst.reviews import KIND
from theodolite.web.annotator.home import records
from theodolite.web.events import event_of
from theodolite.web.models import HostedStudy


def desk_of(hosted: HostedStudy, role: Role = Role.ANALYST) -> AnalystContext:
    """Return the desk of the reader of a role."""
    membership = hosted.memberships.get(role=role.value)
    return AnalystContext(
        access=AccessContext(account=membership.account, hosted=hosted, membership=membership), event=event_of(hosted)
    )


def a_disputed_answer(hosted: HostedStudy) -> str:
    """Return what addresses call an answer that was coded differently."""
    desk = desk_of(hosted)
    first = next(one for one in desk.coding_project().coded if one.state is CodedState.DISPUTED)
    return desk.token_of_answer(first.answer)


def a_named_codebook(hosted: HostedStudy) -> str:
    """Return what addresses call the codebook of what red teamers noted."""
    desk = desk_of(hosted)
    return book_token(desk, desk.coding_project().work.current["ways of attack"])


def a_session_to_review(hosted: HostedStudy) -> str:
    """Return what addresses call a session that waits for a combined review."""
    desk = desk_of(hosted)
    found = next(one for one in risk_findings(desk.evidence()) if one.pending)
    return desk.token_of(found.risk.name, found.pending[0])


def a_settled_session(hosted: HostedStudy) -> str:
    """Return what addresses call a session that is read from both sides; labels are given where there are none yet."""
    let_two_label(hosted)
    desk = desk_of(hosted)
    return desk.token_of(KIND, _settled_response(desk).session)


def a_case_about(hosted: HostedStudy, token: str, hidden: tuple[int, int]) -> CaseRow:
    """Make a case about a settled session's dialogue that hides a stretch of its first prompt."""
    response = _settled_response(desk_of(hosted))
    assert desk_of(hosted).token_of(KIND, response.session) == token
    dialogue = DialogueRow.objects.get(unit__key=response.dialogues[0])
    case = CaseRow.objects.create(
        token="t", study=desk_of(hosted).study.name, dialogue=dialogue, kind=FlagKind.PII.value
    )
    add_step(case, CaseAct.OPENED)
    start, end = hidden
    RedactionRow.objects.create(case=case, turn=1, side=TurnText.PROMPT.value, start=start, end=end)
    return case


def add_step(case: CaseRow, act: CaseAct) -> None:
    """Add a step to a case."""
    CaseStepRow.objects.create(case=case, act=act.value, by="s", created=database_now())


def let_two_label(hosted: HostedStudy) -> None:
    """Let two people have labelled what leaky replies released in field testing; one sees less than the other."""
    desk = desk_of(hosted)
    if list(desk.store.labels(desk.event.run)):
        return
    guideline = desk.study.guideline("risk-assessment")
    leaky = [one for one in desk.responses() if one.application == "leaky-toy" and one.level is Level.FIELD_TESTING]
    for name, seen in (("annotator-1", 4), ("annotator-2", 3)):
        person = person_of(desk.study, name, guideline.name)
        for place, one in enumerate(leaky[:6]):
            answer = Answer(question="released", outcome=Outcome.ANSWERED, value="yes" if place < seen else "no")
            desk.store.keep_labels([annotation_by(person, guideline, key, (answer,)) for key in one.dialogues])


def let_annotators_wait(hosted: HostedStudy) -> None:
    """Put the dialogues that testers answered about into a queue."""
    desk = desk_of(hosted)
    (category,) = (one for one in desk.study.guidelines if one.name == "risk-assessment")
    asked = QueueCategory(name=category.name, version=version_of(category))
    queue = open_queue(records(), "testers", desk.study, QueueDesign(study=desk.study.name, categories=(asked,)))
    add_dialogues(records(), queue, [key for one in desk.evidence().responses for key in one.dialogues])


def _settled_response(desk: AnalystContext) -> QuestionnaireResponse:
    evidence = desk.evidence()
    labelled = {one.dialogue for one in evidence.archive.annotations()}
    return next(one for one in evidence.responses if labelled & set(one.dialogues))
