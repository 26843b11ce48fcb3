"""Planning: a study becomes the sessions that are to be held.

Everything is drawn by keyed hashes, so that the same study and seed give the
same sessions, and adding a persona leaves those of the others as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from theodolite.domain.application import RecordedFile
from theodolite.domain.errors import PlanError
from theodolite.domain.plan import Plan, Sessions
from theodolite.domain.study import Study
from theodolite.testing.assigning import people_levels
from theodolite.testing.cells import Cells, stretches_of
from theodolite.testing.drawn import DrawnSessions, RecordedSessions, SessionsToHold
from theodolite.testing.sessions.holding import FLOW_VERSION

if TYPE_CHECKING:  # they are handed over by whoever has loaded them
    from theodolite.domain.recording import RecordedDialogue


def planned_sessions(study: Study, recordings: Sequence[RecordedDialogue] = ()) -> DrawnSessions:
    """Return the sessions of a study in the order of its plan.

    Live sessions come pair by pair, so that the first few meet every
    application; recorded ones follow in the order of their file.

    Args:
        study: What was written down.
        recordings: Dialogues of the recorded applications.

    Raises:
        PlanError: If there is an application to be talked to but nobody to talk, and no people either.
        TemplateError: If a persona cannot be filled.
    """
    live = [a.name for a in study.applications if not isinstance(a.connection, RecordedFile)]
    cells = Cells(stretches_of(study) if live else ())
    if live and not len(cells) and not people_levels(study):
        message = f"nobody speaks to `{live[0]}`: add personas, or scripts to a scenario"
        raise PlanError(message)
    return DrawnSessions(SessionsToHold(study, cells, live), RecordedSessions(study, recordings))


def draw_plan(study: Study, recordings: Sequence[RecordedDialogue] = ()) -> tuple[Plan, Sessions]:
    """Return the plan of a study and its sessions.

    Raises:
        PlanError: If no session can be held at all, by people neither, or one would be held twice.
        TemplateError: If a persona cannot be filled.
    """
    sessions = planned_sessions(study, recordings)
    if not len(sessions) and not people_levels(study):
        message = f"study `{study.name}` plans no dialogue: it has neither testers nor recorded rows"
        raise PlanError(message)
    _refuse_doubles(study, sessions)
    _refuse_namesakes(study, sessions)
    plan = Plan(
        substance=study.substance,
        seed=study.sampling.seed,
        flow_version=FLOW_VERSION,
        n_sessions=len(sessions),
    )
    return plan, sessions


def _refuse_doubles(study: Study, sessions: DrawnSessions) -> None:
    """Refuse one dialogue that would be held twice with an application, and counted twice."""
    twins = sessions.live.twins()
    if twins is not None:
        _refuse_double(study, *(sessions.label(position) for position in twins))
    met: dict[tuple[str, str], int] = {}
    for position in range(len(sessions.recorded)):
        place = (sessions.recorded.pair_key(position), sessions.recorded.setting(position).application)
        first = met.setdefault(place, position)
        if first != position:
            _refuse_double(study, sessions.recorded.label(first), sessions.recorded.label(position))


def _refuse_double(study: Study, first: str, second: str) -> None:
    message = f"study `{study.name}`: `{second}` is the same dialogue as `{first}` and would count twice"
    raise PlanError(message)


def _refuse_namesakes(study: Study, sessions: DrawnSessions) -> None:
    """Refuse two dialogues of one label, since rows and results are looked up by it."""
    for position in range(len(sessions.recorded)):
        label = sessions.recorded.label(position)
        if sessions.recorded.find(label) != position or sessions.live.find(label) is not None:
            message = (
                f"study `{study.name}`: two dialogues would be called `{label}`; "
                "a recorded id that ends in `#2` looks like a repeat of another, and one with `/` like another "
                "application's; write these ids in another way"
            )
            raise PlanError(message)
