"""The label desk: the annotation page for one person on this machine, without an account."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.assessment.manual_annotation import person_of
from theodolite.bootstrap.serving import Serving, listen, open_server
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.bootstrap.web_settings import WEB
from theodolite.config.permissions import workspace_for
from theodolite.config.serving import ServingSettings
from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotating.work import QueueCategory, QueueDesign
from theodolite.domain.errors import InputError
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.shown_order import OrderPlan
from theodolite.domain.study import Study
from theodolite.usecases.label_planning import LabelRequest, draw_labels, guideline_for, judge_for

if TYPE_CHECKING:
    from theodolite.annotation.records import RecordCache

OWN_PACE = AnnotationProcess(passes=1, practice=False, pass_mark=0.0)
"""How one person labels on this machine: each dialogue once, at once, and without a test."""

LOOPBACK_HOST = "127.0.0.1"
"""The only address that a page without an account is served on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDesk:
    """A page that waits for one person.

    Attributes:
        study: What the user types to name the study, quoted for a shell.
        guideline: Name of the guideline that is labelled by.
        judge: Whose verdicts the dialogues were drawn by; empty for none.
        annotator: Name under which the labels count.
        queue: Token of the queue.
        door: Path of the address that lets in once.
        n_open: Dialogues that wait; count.
    """

    study: str
    guideline: str
    judge: str
    annotator: str
    queue: str
    door: str
    n_open: int


def open_label_desk(
    path: str, request: LabelRequest, *, by: str, database_url: str | None, port: int
) -> tuple[Serving, LabelDesk]:
    """Draw what is to be labelled, put it into a queue of this person's own and open the page's door.

    What an earlier call drew and nobody labelled comes first and counts.

    Raises:
        InputError: If it is not clear what is to be labelled, nothing is left, or the name is a judge's.
        StudyError: If the study holds faults; says all of them.
    """
    start = Path(path)
    if not start.exists():
        message = f"a study's folder or file was expected; there is no `{path}`"
        raise InputError(message)
    folder = start if start.is_dir() else start.parent
    settings = ServingSettings(host=LOOPBACK_HOST, port=port)
    serving = Serving(workspace=workspace_for(folder), database_url=database_url, settings=settings)
    open_server(serving)
    context = open_study(path)
    try:
        return serving, _prepared(context, request, by, serving.workspace)
    finally:
        context.close()


def serve_label_desk(serving: Serving, desk: LabelDesk, lines: tuple[str, ...], tell: Callable[[str], None]) -> int:
    """Serve the page until it is stopped, and return how many dialogues this person has labelled now; count."""
    before = _n_labelled(desk)
    with suppress(KeyboardInterrupt):  # the server has shut down in order and passes the signal on
        listen(serving, lines, tell)
    return _n_labelled(desk) - before


def waiting(desk: LabelDesk) -> int:
    """Return how many dialogues still wait; count."""
    from theodolite.annotation.queues import n_waiting

    return n_waiting(desk.queue)


def _prepared(context: StudyContext, request: LabelRequest, by: str, workspace: Path) -> LabelDesk:
    from theodolite.annotation.queues import n_waiting, open_queue
    from theodolite.annotation.records import RecordCache
    from theodolite.store.contents import Contents

    study, records = context.loaded.study, RecordCache(Contents(workspace / "blobs"))
    guideline = guideline_for(study, request.guideline)
    judge = judge_for(study, guideline, request.judge)
    person = person_of(study, by, guideline.name)
    login = import_module(f"{WEB}.annotator.home").one_time_login(
        study=study.name, guideline=guideline.name, by=person.name
    )
    queue = open_queue(records, login.hosted, study, _design(study, guideline), by=person.name)
    _fill(context, request, records, queue, n_waiting(queue))
    return LabelDesk(
        study=context.path,
        guideline=guideline.name,
        judge=judge.name if judge else "",
        annotator=person.name,
        queue=queue,
        door=login.path,
        n_open=n_waiting(queue),
    )


def _design(study: Study, guideline: Guideline) -> QueueDesign:
    category = QueueCategory(name=guideline.name, version=version_of(guideline))
    order = study.annotation.order if study.annotation else OrderPlan()
    process = replace(OWN_PACE, order=order, seed=study.sampling.seed)
    return QueueDesign(study=study.name, categories=(category,), process=process)


def _fill(context: StudyContext, request: LabelRequest, records: RecordCache, queue: str, n_before: int) -> None:
    """Draw as many dialogues as are missing to the number that is wanted."""
    from theodolite.annotation.queues import add_dialogues

    wanted = request.n - n_before
    if wanted <= 0:
        return
    try:
        drawn = draw_labels(context.evidence(), replace(request, n=wanted))
    except InputError:
        if not n_before:
            raise
        return  # everything is drawn already, and some of it still waits
    context.store.file(LabelSample.subject(context.loaded.study.name), drawn.sample)
    add_dialogues(records, queue, [one.dialogue for one in drawn.sample.dialogues])


def _n_labelled(desk: LabelDesk) -> int:
    from theodolite.annotation.queues import n_submitted

    return n_submitted(desk.queue)
