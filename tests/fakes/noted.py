"""Sessions in which red teamers noted what they tried."""

from __future__ import annotations

from theodolite.domain.dialogue import Level
from theodolite.domain.identity import digest, version_of
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.people.session import Session, SessionState
from theodolite.domain.strategy import Attempt, AttemptOutcome, Strategy
from theodolite.testing.people import scenario_sight

TRIED = Strategy(
    name="role_play",
    dialogue="d",
    attempts=(
        Attempt(description="as a nurse", outcome=AttemptOutcome.WITHHELD, turn=1),
        Attempt(description="in rhyme", outcome=AttemptOutcome.RELEASED, turn=2, refines=1),
    ),
)
WORDS = "role play: as a nurse (withheld); in rhyme (released, refining try 1)"


def noted(study, person="p", state=SessionState.COMPLETE, application=0, strategies=(TRIED,), number=1, **facts):
    """Return a dialogue of a red teamer with what was noted in it."""
    app, scenario = study.applications[application], study.scenarios[0]
    session = Session(
        key=digest(person, app.name),
        study=study.name,
        edition=version_of(study),
        run="r",
        participant=person,
        level=Level.RED_TEAMING,
        scenario=scenario.name,
        scenario_version=scenario_sight(scenario),
        application=app.name,
        application_version=study.application_version(app.name),
        seat=0,
        place=application,
        state=state,
    )
    return LiveDialogueSummary(
        key=digest(session.key, str(number)),
        session=session,
        number=number,
        ordinal=number,
        strategies=strategies,
        unit=f"unit {number}",
        **facts,
    )
