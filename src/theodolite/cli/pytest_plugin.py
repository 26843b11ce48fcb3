"""A plugin of pytest: the gates of a study are tests, and a fixture checks the gates of a run from Python.

pytest loads it in every project where Theodolite is installed, so it imports nothing heavy before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from theodolite.bootstrap.api import StudyRun
    from theodolite.domain.gate import GateResult

STUDY_FILE = "study.yaml"
"""Name of the files that are collected."""


class GateFailure(Exception):
    """A gate that is not met or inconclusive."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("theodolite", "studies of Theodolite as tests")
    group.addoption("--studies", action="store_true", help="Run each study.yaml and test its gates.")
    group.addoption("--studies-allow-code", action="store_true", help="Allow the code that the studies name.")
    group.addoption("--studies-allow-inconclusive", action="store_true", help="Pass gates that are inconclusive.")
    group.addoption("--studies-baseline", metavar="PLACE", help="Baseline for `worse_by`: @1, or a results.json.")
    parser.addini("theodolite_studies", "Run each study.yaml and test its gates.", type="bool", default=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> StudyTests | None:
    """Collect a study where studies are asked for."""
    config = parent.config
    if file_path.name != STUDY_FILE or not (config.getoption("--studies") or config.getini("theodolite_studies")):
        return None
    tests: StudyTests = StudyTests.from_parent(parent, path=file_path)
    return tests


class StudyTests(pytest.File):
    """A study: one test for its run, and one for each of its gates."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the tests of a study; a study with errors fails here with their list."""
        from theodolite.config.loading import load_study

        yield RunTest.from_parent(self, name="run")
        for name in dict.fromkeys(gate.name for gate in load_study(self.path).study.gates):
            yield GateTest.from_parent(self, name=name)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """Return the list of a study's errors without a traceback."""
        return _shown(excinfo) or super().repr_failure(excinfo)  # pytest's own Collector has this signature too

    @cached_property
    def result(self) -> StudyRun:
        """The run of the study; it takes place when the first test asks for it, or resumes."""
        from theodolite.bootstrap.api import run

        return run(str(self.path.parent), allow_code=self.config.getoption("--studies-allow-code"))

    @cached_property
    def gates(self) -> Sequence[GateResult]:
        """The gates of the study on the rates of its run."""
        baseline = self.config.getoption("--studies-baseline")
        return self.result.gates_against(baseline or "").results


class RunTest(pytest.Item):
    """Passes if each planned dialogue has been run."""

    parent: StudyTests

    def runtest(self) -> None:
        """Run the study.

        Raises:
            GateFailure: If the run stopped, or no dialogue succeeded.
        """
        status = self.parent.result.status
        if status.stopped or not status.is_complete or not status.dialogues:
            why = status.stopped or f"{status.dialogues} of {status.planned} dialogues succeeded"
            message = f"The run is incomplete: {why}."
            raise GateFailure(message)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the reason without a traceback."""
        return _shown(excinfo) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the path of the test."""
        return self.path, None, f"{self.path.parent.name}: {self.name}"


class GateTest(RunTest):
    """Passes if all rates keep a gate."""

    def runtest(self) -> None:
        """Compare the rates with the gate.

        Raises:
            GateFailure: If a rate does not keep it.
        """
        results = [gate for gate in self.parent.gates if gate.gate.name == self.name]
        require_met(results, allow_inconclusive=self.config.getoption("--studies-allow-inconclusive"))


def require_met(results: Sequence[GateResult], *, allow_inconclusive: bool = False) -> None:
    """Refuse results that do not keep their gates.

    Raises:
        GateFailure: If a gate is not met, or inconclusive; with the table of all results.
    """
    from theodolite.domain.gate import GateState
    from theodolite.reporting.queries.gates import gate_lines

    allowed = {GateState.MET, GateState.INCONCLUSIVE} if allow_inconclusive else {GateState.MET}
    if any(result.state not in allowed for result in results):
        raise GateFailure("\n".join(gate_lines(results)))


def _shown(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    """Return the message of an error of ours; empty for any other."""
    from theodolite.domain.errors import TheodoliteError

    return str(excinfo.value) if isinstance(excinfo.value, GateFailure | TheodoliteError) else ""


@pytest.fixture
def theodolite_gates(request: pytest.FixtureRequest) -> Callable[[StudyRun], None]:
    """Return a function that fails a test where a run from Python does not keep the gates of its study."""
    allow: bool = request.config.getoption("--studies-allow-inconclusive")

    def check(result: StudyRun) -> None:
        try:
            require_met(result.gates.results, allow_inconclusive=allow)
        except GateFailure as failure:
            pytest.fail(str(failure), pytrace=False)

    return check
