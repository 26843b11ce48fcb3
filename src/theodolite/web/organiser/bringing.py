"""Bringing dialogues in: a table is sent, looked at with its faults by line, and taken into evidence and queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from theodolite.bootstrap.bringing import Looked, bring_looked, look_into
from theodolite.config.brought.bringing import HOLDERS, NAMES, BringColumns, ReadBrought
from theodolite.config.brought.threads import Ways
from theodolite.config.brought.voices import Voices, silent_among
from theodolite.config.loading import StudyFaults
from theodolite.domain.dialogue import HeldBy, Level
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.people.role import Role
from theodolite.domain.study import Study
from theodolite.store.models.annotating import QueueRow
from theodolite.web.access import Here, allowed
from theodolite.web.annotator.items import worded
from theodolite.web.audit import audit
from theodolite.web.organiser.uploads import Upload, drop_upload, keep_upload, upload_of
from theodolite.web.senior.filling import fill_queue
from theodolite.web.venues import venue_of

MOST_BYTES = 30_000_000
"""Size of a file of dialogues at most; bytes."""

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".zip", ".json")
"""Endings of files that are read: tables, corpora of ConvoKit, tasks of Label Studio."""

SHOWN = 3
"""Dialogues that are shown before they are brought in; count."""

COLUMNS = (
    ("prompt", "What the tester said", False),
    ("response", "What the application said", False),
    ("id", "Names the dialogue", True),
    ("turn", "Number of the turn", True),
    ("tester", "Names who tested", True),
    ("context", "Source material", True),
    ("withheld", "Says why a text is not there", True),
)
"""Meaning of a column, what it is called, and whether a table may do without."""

PLACES = (("application", "Application"), ("scenario", "Scenario"), ("level", "Level of testing"))
"""What is chosen once for all rows, or named by a column."""

HOLDER_WORDS = {HeldBy.PERSON: "people", HeldBy.RECORDED: "programs, or nobody knows"}
"""Who may have tested, in words."""


VALUES_SHOWN = 4
"""Values of a field that stand beside its name; count."""

WAY_WORDS = {
    Ways.EVERY: "each way to a last remark is a dialogue",
    Ways.LONGEST: "its longest way is the dialogue",
    Ways.TIME: "all of it is one dialogue, in order of time",
}
"""What becomes of a conversation that branches, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One select of the form.

    Attributes:
        name: Of the field.
        label: What it is about.
        options: Value and words of each option.
        chosen: The value that is chosen.
    """

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    chosen: str


@allowed(Role.ORGANISER)
@require_http_methods(["GET", "POST"])
def bringing(request: HttpRequest, here: Here) -> HttpResponse:
    """Take a table, show what it would bring, and bring it in."""
    if request.method == "POST" and "file" in request.FILES:
        return _sent(request, here)
    waiting = upload_of(request, here.hosted)
    if waiting is None:
        return _page(request, here, fault="Choose a file first." if request.method == "POST" else "")
    if "drop" in request.POST:
        drop_upload(request, here.hosted)
        return redirect("organiser:bringing", study=here.hosted.token)
    means, voices = (_means(request), _voices(request)) if request.method == "POST" else (None, None)
    looked = look_into(waiting.path.read_bytes(), waiting.name, venue_of(here.hosted), means, voices)
    if means and "bring" in request.POST:
        return _brought(request, here, waiting, looked)
    return _looked(request, here, waiting, looked)


def _sent(request: HttpRequest, here: Here) -> HttpResponse:
    try:
        keep_upload(request, here.hosted, suffixes=SUFFIXES, most_bytes=MOST_BYTES)
    except InputError as error:
        return _page(request, here, fault=str(error))
    return redirect("organiser:bringing", study=here.hosted.token)


def _brought(request: HttpRequest, here: Here, waiting: Upload, looked: Looked) -> HttpResponse:
    try:
        found = bring_looked(looked, venue_of(here.hosted))
    except (StudyFaults, Conflict):
        return _looked(request, here, waiting, looked)
    drop_upload(request, here.hosted)
    n = len(found.new)
    audit(request.user, "brought dialogues in", f"study {here.hosted.token}", hosted=here.hosted, new=n)
    known = f", {found.known} there already" if found.known else ""
    messages.success(request, f"{n} dialogue{'' if n == 1 else 's'} brought in{known}.{_queued(here)}")
    return redirect("organiser:exchange", study=here.hosted.token)


def _queued(here: Here) -> str:
    """Bring what is new to annotators where they have a queue; return what came of it in words."""
    if not QueueRow.objects.filter(name=here.hosted.token).exists():
        return " They wait for annotators until a senior annotator opens the queue."
    try:
        n_items = fill_queue(here.hosted, by=here.account.token)
    except (Conflict, InputError) as error:
        return f" They are not in the queue: {error}."
    return f" {n_items} new item{'' if n_items == 1 else 's'} in the queue of annotators."


def _looked(request: HttpRequest, here: Here, waiting: Upload, looked: Looked) -> HttpResponse:
    read = looked.read
    context = {
        "waiting": waiting.name,
        "read": read,
        "notes": looked.notes,
        "choices": _choices(read, looked.means),
        "places": _places(read, looked.means, venue_of(here.hosted).study),
        "shown": [(worded(one.scenario), one) for one in read.dialogues[:SHOWN]],
        "n_turns": sum(len(one.turns) for one in read.dialogues),
        **_speaking(looked),
    }
    return _page(request, here, context, status=422 if request.method == "POST" and read.faults else 200)


def _speaking(looked: Looked) -> dict[str, object]:
    """Return the fields that say who speaks for the application; none for a table."""
    remarks, voices = looked.remarks, looked.voices
    if remarks is None or voices is None:
        return {}
    fields = [(name, _with_values(name, list(remarks.values(name)))) for name in remarks.fields]
    ways = [(one.value, WAY_WORDS[one]) for one in Ways]
    return {
        "voices": [
            Choice(name="told_by", label="What tells who speaks", options=fields, chosen=voices.told_by),
            Choice(name="ways", label="A conversation that branches", options=ways, chosen=voices.ways.value),
        ],
        "replies": ", ".join(voices.application),
        "silent": ", ".join(silent_among(voices, remarks) if voices.silent is None else voices.silent),
    }


def _with_values(name: str, values: Sequence[str]) -> str:
    """Return a field with the first of its values."""
    shown = ", ".join(value[:20] for value in values[:VALUES_SHOWN])
    return f"{name} ({shown}{', ...' if len(values) > VALUES_SHOWN else ''})"


def _page(
    request: HttpRequest, here: Here, context: dict[str, object] | None = None, *, fault: str = "", status: int = 200
) -> HttpResponse:
    known = {"here": here, "fault": fault, "suffixes": ", ".join(SUFFIXES), "most": MOST_BYTES // 1_000_000}
    return render(request, "web/organiser/bringing.html", known | (context or {}), status=422 if fault else status)


def _means(request: HttpRequest) -> BringColumns:
    return BringColumns(**{name: request.POST.get(name, "")[:200] for name in NAMES})


def _voices(request: HttpRequest) -> Voices:
    """Return who speaks for the application, as the form says."""
    sent = request.POST
    ways = {one.value: one for one in Ways}
    return Voices(
        told_by=sent.get("told_by", "")[:200],
        application=_listed(sent.get("replies", "")),
        silent=_listed(sent.get("silent", "")),
        ways=ways.get(sent.get("ways", ""), Ways.EVERY),
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(value for part in text[:4000].split(",") if (value := part.strip()))


def _choices(read: ReadBrought, means: BringColumns) -> list[Choice]:
    named = [(column, column) for column in read.columns]
    chosen = {name: getattr(means, name) for name, _, _ in COLUMNS}
    return [
        Choice(
            name=name,
            label=label,
            options=[("", "no column"), *named] if is_optional or not chosen[name] else named,
            chosen=chosen[name],
        )
        for name, label, is_optional in COLUMNS
    ]


def _places(read: ReadBrought, means: BringColumns, study: Study) -> list[Choice]:
    """Return for application, scenario and level the select of one for all rows, and that of a column."""
    known = {
        "application": [(one.name, one.name) for one in study.applications],
        "scenario": [(one.name, worded(one.name)) for one in study.scenarios],
        "level": [(one.value, one.value) for one in Level],
    }
    columns = [("", "no column"), *((column, column) for column in read.columns)]
    found = []
    for name, label in PLACES:
        whole = f"of_{name}"
        options = [("", "as a column says"), *known[name]]
        found += [
            Choice(name=whole, label=label, options=options, chosen=getattr(means, whole)),
            Choice(name=name, label=f"or column of the {label.lower()}", options=columns, chosen=getattr(means, name)),
        ]
    holders = [(one.value, HOLDER_WORDS[one]) for one in HOLDERS]
    return [*found, Choice(name="held_by", label="Who tested", options=holders, chosen=means.held_by)]
