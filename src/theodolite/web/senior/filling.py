"""Filling the queue: what was held under a study's name comes to its annotators."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from theodolite.annotation.cases import suspect, unseen
from theodolite.annotation.queues import add_dialogues, open_queue
from theodolite.annotation.rules import design_of
from theodolite.domain.annotating.work import QueueDesign
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.people.event import AnnotationProcess
from theodolite.domain.people.role import Role
from theodolite.domain.study import Study
from theodolite.store.models import DialogueRow, TurnRow
from theodolite.store.models.annotating import QueueRow
from theodolite.web.access import Here, allowed
from theodolite.web.annotator.desk import library
from theodolite.web.annotator.rules import RULES
from theodolite.web.audit import audit
from theodolite.web.events import last_edition, study_of
from theodolite.web.models import HostedStudy


@allowed(Role.SENIOR)
@require_POST
def fill(request: HttpRequest, here: Here) -> HttpResponse:
    """Open the study's queue where there is none, and bring every dialogue into it that is not there yet."""
    try:
        n_new = fill_queue(here.hosted, by=here.account.token)
    except (Conflict, InputError) as error:
        messages.warning(request, f"Not done: {error}.")
    else:
        audit(here.account, "filled the queue", f"study {here.hosted.token}", hosted=here.hosted, items=n_new)
        messages.success(request, f"{n_new} new item{'' if n_new == 1 else 's'} in the queue.")
    return redirect("senior:home", study=here.hosted.token)


def fill_queue(hosted: HostedStudy, *, by: str) -> int:
    """Bring what was held under the study's name into its queue; dialogues whose texts are withheld stay out.

    The queue asks what the edition published last asks. Programs look through
    what is new before annotators see it; what they suspect becomes cases.

    Args:
        hosted: The study.
        by: Who says so.

    Returns:
        Items that are new; count.

    Raises:
        Conflict: If the queue of that study holds another study's dialogues.
        InputError: If nothing was published, or the study has no schema to annotate by.
    """
    edition = last_edition(hosted)
    if edition is None:
        message = "nothing of this study was published yet; an organiser publishes an edition first"
        raise InputError(message)
    study = study_of(edition)
    known = QueueRow.objects.filter(name=hosted.token).first()
    if known is not None and known.study != study.name:
        message = f"the queue holds dialogues of `{known.study}`, and the study is called `{study.name}`"
        raise Conflict(message)
    queue = open_queue(library(), hosted.token, study, queue_design(study), by=by)
    rows = DialogueRow.objects.filter(unit__run__study=study.name)
    silent = TurnRow.objects.exclude(withheld="").values("dialogue_id")
    keys = unseen(queue, list(rows.exclude(id__in=silent).values_list("unit__key", flat=True)))
    suspect(library(), queue, keys)
    return add_dialogues(library(), queue, keys)


def queue_design(study: Study) -> QueueDesign:
    """Return what a study asks of its annotators.

    Raises:
        InputError: If it has no schema.
    """
    schema = study.schema()
    if schema is None:
        message = f"study `{study.name}` has no schema; say `annotation: {{schema: aria-five-categories}}` in its file"
        raise InputError(message)
    design = design_of(study.name, schema, study.annotation or AnnotationProcess())
    return replace(design, background=study.about, rules=RULES)
