"""What programs that call Theodolite see; type-checked, never run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_type

import pandas as pd

import theodolite as th
from theodolite.bootstrap.api import DialogueSet


def answer(prompt: str) -> str:
    """Return a reply."""
    return prompt


async def answer_later(prompt: str, history: Sequence[object]) -> str:
    """Return a reply."""
    return f"{prompt} {len(history)}"


local = th.model("http://127.0.0.1:11434/v1", "qwen2.5:14b", parallel=4)
result = th.run(
    {"study": "smoke", "gates": {"facts": "upper <= 20%"}},
    applications={"v1": answer, "v2": answer_later},
    cases=pd.DataFrame({"prompt": ["a"]}),
    judges={
        "exact": th.rule(equals="{{ expected }}"),
        "facts": th.judge("Is the expected answer stated?", defect="== no", model=local),
    },
    limit=20,
)
assert_type(result, th.StudyRun)
assert_type(result.gates.met, bool)
assert_type(result.compare("v1", "v2").regressed, DialogueSet)
assert_type(result.view(), str)
rows: list[dict[str, str]] = [{"prompt": "a"}]
th.run("support", limit=3)
th.run({"study": "smoke"}, applications={"v1": answer}, cases=rows)


async def later() -> None:
    """Await the async twin."""
    assert_type(await th.run_async({"study": "smoke"}, applications={"v1": answer}, cases=rows), th.StudyRun)
