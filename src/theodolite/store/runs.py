"""Runs: which of them there are and how far they came, asked at the desk."""

from __future__ import annotations

from theodolite.domain.plan import Plan
from theodolite.domain.run import Run, UnitKind
from theodolite.store.cabinet import Cabinet
from theodolite.store.contents import Contents
from theodolite.store.ledger import Ledger
from theodolite.store.readings import Readings
from theodolite.store.sealed import sealed_credentials
from theodolite.store.workplace import Workplace


class Runs(Cabinet):
    """The runs of one workspace; they are begun and ended elsewhere."""

    def __init__(self, work: Workplace, contents: Contents, readings: Readings, ledger: Ledger) -> None:
        """Remember whom to ask."""
        super().__init__(work, contents, readings)
        self._work, self._ledger = work, ledger

    def latest_run(self, study_name: str) -> Run:
        """Return the latest run of a study of that name."""
        return self._work.read(lambda: self._ledger.latest_run(study_name))

    def runs(self, study_name: str) -> list[Run]:
        """Return all runs of studies of that name, in order of their numbers."""
        return self._work.read(lambda: self._ledger.runs(study_name))

    def run_of(self, plan: Plan) -> Run:
        """Return the latest run of a plan."""
        return self._work.read(lambda: self._ledger.run_of(plan))

    def count_units(self, run: Run, kind: UnitKind) -> dict[str, int]:
        """Return the units by state."""
        return self._work.read(lambda: self._ledger.count_units(run, kind))

    def count_orphans(self, run: Run, kind: UnitKind) -> int:
        """Return the leased units that nobody works on any more; count."""
        return self._work.read(lambda: self._ledger.count_orphans(run, kind))

    def sealed_credentials(self, study: str) -> dict[str, bytes]:
        """Return what teams left in the vault for the applications of a study, sealed, by the submission's token."""
        return self._work.read(lambda: sealed_credentials(study))
