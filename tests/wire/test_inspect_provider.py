"""Inspect measures an application of a study, as it measures a model."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path

import pytest
from inspect_ai import Task, eval  # noqa: A004 - Inspect's name
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, TaskState, generate, solver, system_message

from tests.fakes.loopback import Loopback
from tests.unit.bootstrap.test_application_model import study

# Inspect leaves its own streams open at the end of an evaluation.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

importlib.import_module("theodolite.bootstrap.inspect_provider")


@pytest.fixture(autouse=True)
def collected():
    """Collect what an evaluation leaves open here, where its warnings are expected, and not at the end of all tests."""
    yield
    gc.collect()


@solver
def two_turns():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        state.messages.append(type(state.messages[0])(role="user", content="And now?"))
        return await generate(state)

    return solve


def measured(folder: Path, server: Loopback, **options):
    task = Task(
        dataset=[Sample(input="Hello", target="x"), Sample(input="Good day", target="x")],
        solver=options.pop("solver", [generate()]),
        scorer=includes(),
    )
    model = get_model("theodolite/bot", study=study(folder, server), memoize=False, **options)
    (log,) = eval(task, model=model, display="none", log_dir=str(folder / "logs"))
    return log


def test_every_sample_is_a_session_of_the_application(tmp_path: Path) -> None:
    with Loopback() as server:
        log = measured(tmp_path, server, solver=[two_turns()])
        assert log.status == "success"
        assert [len(sample.messages) for sample in log.samples] == [4, 4]
        assert all(sample.messages[-1].text for sample in log.samples)
        assert server.stats["requests"] == 4
    sessions = {str(sample.store["theodolite:bot"]) for sample in log.samples}
    assert len(sessions) == 2


def test_a_system_message_is_an_error_until_it_is_dropped(tmp_path: Path) -> None:
    solvers = [system_message("Be bad."), generate()]
    with Loopback() as server:
        refused = measured(tmp_path, server, solver=solvers)
        assert refused.status == "error"
        assert "leave them out with unsupported=drop" in refused.error.message
        assert measured(tmp_path, server, solver=solvers, unsupported="drop").status == "success"
