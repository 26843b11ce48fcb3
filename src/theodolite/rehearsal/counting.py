"""What a rehearsal left in its workspace: cells, dialogues and missing replies, each with its application."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from theodolite.bootstrap.study_context import StudyContext
from theodolite.domain.dialogue import TurnState
from theodolite.domain.run import FailureSource


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTally:
    """One application at one level.

    Attributes:
        level: Level of testing.
        application: Its name.
        sessions: Sessions that were held; count.
        dialogues: Dialogues that count in the measurement; count.
        turns: Prompts; count.
        failed: Prompts that got no reply; count.
    """

    level: str
    application: str
    sessions: int = 0
    dialogues: int = 0
    turns: int = 0
    failed: int = 0

    @property
    def is_dead(self) -> bool:
        """Whether the application answered nothing at all."""
        return self.turns > 0 and self.failed == self.turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something that did not go as it should.

    Attributes:
        party: Whose fault it is.
        who: Name of the application, or which bot met it.
        what: What happened.
        n: How often; count.
    """

    party: FailureSource
    who: str
    what: str
    n: int = 1


def tally(context: StudyContext) -> tuple[CellTally, ...]:
    """Return level by level what was held with each application."""
    store, study = context.store, context.loaded.study
    cells: dict[tuple[str, str], CellTally] = {}
    for session in store.events.sessions.in_study(study.name):
        place = session.level.value, session.application
        cell = cells.get(place, CellTally(level=place[0], application=place[1]))
        held = store.events.dialogues.of_session(session.key)
        turns = [turn for dialogue in held for turn in dialogue.turns]
        cells[place] = replace(
            cell,
            sessions=cell.sessions + 1,
            dialogues=cell.dialogues + sum(bool(dialogue.unit) for dialogue in held),
            turns=cell.turns + len(turns),
            failed=cell.failed + sum(turn.state is TurnState.ERROR for turn in turns),
        )
    return tuple(cells[place] for place in sorted(cells))


def troubles_of(context: StudyContext) -> Iterator[Trouble]:
    """Yield what went wrong with each application, and how often."""
    store = context.store
    found: Counter[tuple[str, str]] = Counter()
    for session in store.events.sessions.in_study(context.loaded.study.name):
        for dialogue in store.events.dialogues.of_session(session.key):
            for turn in dialogue.turns:
                if turn.state is TurnState.ERROR:
                    kind = turn.kind.value if turn.kind else "no reply"
                    found[session.application, f"{kind}: {turn.cause}" if turn.cause else kind] += 1
    for (application, what), n in sorted(found.items()):
        yield Trouble(party=FailureSource.APPLICATION, who=application, what=what, n=n)
