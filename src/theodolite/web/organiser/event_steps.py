"""The steps of an event from the study file to the released results, each with its progress and its page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from django.urls import reverse
from django.utils.formats import date_format

from theodolite.annotation.queues import queue_named
from theodolite.domain.study_parts import CriteriaSubject
from theodolite.events.context import EventContext
from theodolite.events.results import ActivityCounts, activity_counts, cell_counts
from theodolite.testing.assigning import people_levels
from theodolite.usecases.measuring import criteria_of
from theodolite.web.events import approval_of, event_of, lacks_before_opening, last_edition, server_store, told_changes
from theodolite.web.models import Booking, Edition, EthicsApproval, HostedStudy, Submission
from theodolite.web.organiser.dashboard import Annotated, annotated_in
from theodolite.web.organiser.editing import TextToWrite, files_of, texts_to_write
from theodolite.web.organiser.people import (
    Participant,
    counted_states,
    lacking_factor,
    n_invited_testers,
    participants_of,
)

_State = HostedStudy.State


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFigure:
    """A key figure of an event.

    Attributes:
        label: Its name.
        n: Its value; count.
        total: Its planned value; 0 if there is none.
        words: Its explanation.
    """

    label: str
    n: int
    total: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStep:
    """A step of an event.

    Attributes:
        title: Its name.
        words: Its progress; empty for none.
        button: Label of its button.
        address: Its page.
        is_done: Whether it is complete.
        is_current: Whether it is the first incomplete step.
    """

    title: str
    words: str
    button: str
    address: str
    is_done: bool
    is_current: bool = False

    @property
    def icon(self) -> str:
        """Icon of its state."""
        return "circle-check" if self.is_done else "circle-dot" if self.is_current else "circle-dashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedPage:
    """A page beside the steps with its progress.

    Attributes:
        title: Its title.
        address: Its address.
        words: Its progress.
        is_urgent: Whether people wait for it.
    """

    title: str
    address: str
    words: str
    is_urgent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EventProgress:
    """The progress of an event.

    Attributes:
        is_published: Whether the study has a release.
        is_approved: Whether an ethics approval is valid today.
        n_to_decide: Submissions that wait for a decision; count.
        n_testers: Testers who were invited or have joined; count.
        has_drafts: Whether files have drafts.
        texts: Texts that people must read and that are missing.
        tiles: Key figures.
        steps: All steps, in order.
        topics: Other pages with their progress.
    """

    is_published: bool
    is_approved: bool
    n_to_decide: int
    n_testers: int
    has_drafts: bool
    texts: tuple[TextToWrite, ...]
    tiles: tuple[KeyFigure, ...]
    steps: tuple[EventStep, ...]
    topics: tuple[RelatedPage, ...]

    @property
    def to_write(self) -> TextToWrite | None:
        """The first missing text without a draft."""
        return next((text for text in self.texts if not text.is_drafted), None)

    @property
    def n_done(self) -> int:
        """Complete steps; count."""
        return sum(step.is_done for step in self.steps)


def progress_of(hosted: HostedStudy) -> EventProgress:
    """Return the progress of an event, in a constant number of queries."""
    pool, release, approval = participants_of(hosted), last_edition(hosted), approval_of(hosted)
    counts = counted_states(pool, n_invited_testers(hosted))
    event = event_of(hosted)
    activity = activity_counts(event)
    texts = texts_to_write(hosted, lacks_before_opening(hosted, event.study))
    n_to_decide = hosted.submissions.filter(state=Submission.State.SUBMITTED).count()
    tiles = _tiles(event, pool, counts, activity, annotated_in(queue_named(hosted.token)))
    steps = _steps(
        hosted,
        release=release,
        texts=texts if people_levels(event.study) else None,
        approval=approval,
        counts=counts,
        tiles=tiles,
    )
    return EventProgress(
        is_published=release is not None,
        is_approved=approval is not None,
        n_to_decide=n_to_decide,
        n_testers=sum(n for _, n in counts),
        has_drafts=bool(_drafts(hosted)),
        texts=texts,
        tiles=tiles,
        steps=steps,
        topics=tuple(_topics(hosted, n_to_decide, activity)),
    )


def _tiles(
    event: EventContext,
    pool: Iterable[Participant],
    counts: Iterable[tuple[str, int]],
    activity: ActivityCounts,
    annotated: Annotated | None,
) -> tuple[KeyFigure, ...]:
    cells = cell_counts(event.study, event.sessions.tallies(event.study.name))
    return (
        KeyFigure(
            label="Completed sessions", n=sum(cell.over for cell in cells), total=sum(cell.planned for cell in cells)
        ),
        KeyFigure(
            label="Testers",
            n=sum(one.is_tester for one in pool),
            words=", ".join(f"{n} {state}" for state, n in counts) or "nobody is invited yet",
        ),
        KeyFigure(label="Questionnaires", n=activity.submitted, words="submitted after sessions"),
        KeyFigure(
            label="Annotations",
            n=annotated.n_done if annotated else 0,
            total=annotated.n_required if annotated else 0,
            words="" if annotated else "no annotation queue yet",
        ),
    )


def _drafts(hosted: HostedStudy) -> tuple[str, ...]:
    return files_of(hosted).drafts() if hosted.folder and Path(hosted.folder).is_dir() else ()


def _steps(
    hosted: HostedStudy,
    *,
    release: Edition | None,
    texts: tuple[TextToWrite, ...] | None,
    approval: EthicsApproval | None,
    counts: Iterable[tuple[str, int]],
    tiles: Iterable[KeyFigure],
) -> tuple[EventStep, ...]:
    """Return the steps of an event; a study without testers, whose texts are None, has only those of its files."""
    changes = told_changes(release) if release else ""
    published = "not published yet" if release is None else _published(release, changes)
    publish = _step(
        hosted, "organiser:editions", "Write and publish the study", published, "Study", is_done=release is not None
    )
    measured = hosted.measurements.exclude(done_at=None).order_by("-asked_at").first()
    words = f"measured on {date_format(measured.asked_at, 'j M Y, H:i')} UTC" if measured else "not measured yet"
    measure = _step(
        hosted, "organiser:results", "Measure and publish results", words, "Results", is_done=measured is not None
    )
    if texts is None:
        return _with_current([publish, measure])
    write = _step(
        hosted, "organiser:edit_study", "Write the texts for testers",
        "; ".join(text.what for text in texts) or "complete", "Texts", is_done=not texts,
    )  # fmt: skip
    write = replace(write, address=texts[0].address) if texts else write
    return _with_current([write, publish, *_people_steps(hosted, approval, counts, *tiles), measure])


def _people_steps(
    hosted: HostedStudy,
    approval: EthicsApproval | None,
    counts: Iterable[tuple[str, int]],
    sessions: KeyFigure,
    *others: KeyFigure,
) -> Iterable[EventStep]:
    """Yield the steps that need people, from the approval to the annotation."""
    people, has_begun, annotations = (
        ", ".join(f"{n} {state}" for state, n in counts),
        hosted.state in _BEGUN,
        others[-1],
    )
    yield _step(
        hosted, "organiser:ethics", "Record the ethics approval", _until(approval), "Approval",
        is_done=approval is not None,
    )  # fmt: skip
    yield _step(
        hosted, "organiser:people", "Invite testers", people or "nobody is invited yet", "People", is_done=bool(people)
    )
    state = str(hosted.state) if has_begun else "not open yet"
    yield _step(hosted, "organiser:operations", "Open the event", state, "Event", is_done=has_begun)
    yield _step(
        hosted, "organiser:operations", "Complete the sessions", f"{sessions.n} of {sessions.total}", "Event",
        is_done=hosted.state == _State.CLOSED or 0 < sessions.total <= sessions.n,
    )  # fmt: skip
    words = f"{annotations.n} of {annotations.total} annotations" if annotations.total else annotations.words
    is_annotated = 0 < annotations.total <= annotations.n
    yield _step(hosted, "senior:dialogues", "Annotate the dialogues", words, "Dialogues", is_done=is_annotated)


def _step(hosted: HostedStudy, page: str, title: str, words: str, button: str, *, is_done: bool) -> EventStep:
    address = reverse(page, args=[hosted.token])
    return EventStep(title=title, words=words, button=button, address=address, is_done=is_done)


_BEGUN = frozenset({_State.OPEN, _State.PAUSED, _State.CLOSED})


def _with_current(steps: list[EventStep]) -> tuple[EventStep, ...]:
    first = next((step for step in steps if not step.is_done), None)
    return tuple(replace(step, is_current=step is first) for step in steps)


def _topics(hosted: HostedStudy, n_to_decide: int, activity: ActivityCounts) -> Iterable[RelatedPage]:
    """Yield the pages beside the steps, with their progress."""
    stated = {criterion.about for criterion in criteria_of(server_store(), hosted.name)}
    n_lacking = len(lacking_factor(hosted))
    known: Mapping[str, tuple[str, str]] = {
        "organiser:submissions": ("Applications of teams", f"{n_to_decide} to decide" if n_to_decide else "none waits"),
        "organiser:links": ("Recruiting links", _some(hosted.recruit_links.filter(closed_at=None).count(), "open")),
        "organiser:slots": ("Time slots", _slots(hosted)),
        "organiser:blinding": (
            "Blinding", f"{activity.guesses} guess{'' if activity.guesses == 1 else 'es'} of the application",
        ),
        "organiser:criteria": ("Criteria for annotators", f"{len(stated)} of {len(CriteriaSubject)} stated"),
        "organiser:factors": ("Second factors", f"{n_lacking} without one" if n_lacking else "nobody lacks one"),
    }  # fmt: skip
    urgent = {"organiser:submissions": n_to_decide, "organiser:factors": n_lacking}
    for page, (title, words) in known.items():
        yield RelatedPage(
            title=title, address=reverse(page, args=[hosted.token]), words=words, is_urgent=bool(urgent.get(page))
        )


def _published(release: Edition, changes: str) -> str:
    text = f"version {release.number}, {date_format(release.made_at, 'j M Y')}"
    return f"{text}; {changes}" if changes else text


def _until(approval: EthicsApproval | None) -> str:
    if approval is None:
        return "no valid approval"
    return f"valid until {date_format(approval.expires, 'j M Y')}" if approval.expires else "valid"


def _slots(hosted: HostedStudy) -> str:
    capacities = list(hosted.time_slots.values_list("capacity", flat=True))
    booked = Booking.objects.filter(slot__hosted=hosted).count()
    slots = _some(len(capacities), "slots" if len(capacities) > 1 else "slot")
    return f"{slots}, {booked} of {sum(capacities)} places taken" if capacities else "none"


def _some(n: int, what: str) -> str:
    return f"{n} {what}" if n else "none"
