"""Functions that label run in processes of their own: two folders' modules never mix."""

from __future__ import annotations

from pathlib import Path

import pytest

from theodolite.bootstrap.connections import SystemClock
from theodolite.domain.annotator import Annotator, AnnotatorKind, PythonLabeller
from theodolite.domain.errors import InputError, ServerFault
from theodolite.domain.flow import AskFunction, Exchange
from theodolite.gateways.applications.callable_application import CallableLabeller
from theodolite.gateways.factory import open_labeller

ASK = AskFunction(annotator="j", turns=(Exchange(prompt="a", response="b"),), guideline="g", questions=("label",))


def opened(folder: Path, target: str, *, env: tuple[str, ...] = (), **environ: str) -> CallableLabeller:
    labelling = PythonLabeller(target=target, version="1", env=env)
    judge = Annotator(name="j", kind=AnnotatorKind.MODEL, guideline="g", labelling=labelling)
    line = open_labeller(judge, folder=folder, environ=environ, clock=SystemClock())
    assert line is not None
    return line


async def label(folder: Path, target: str) -> str:
    line = opened(folder, target)
    try:
        return (await line.reply(ASK)).text
    finally:
        await line.close()


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)


async def test_each_folder_has_its_own_helper_modules(tmp_path: Path) -> None:
    for name in ("first", "second"):
        write(tmp_path, f"{name}/utils.py", f"WORD = {name!r}\n")
        write(tmp_path, f"{name}/judge.py", "import utils\ndef label(turns): return utils.WORD\n")

    labels = [await label(tmp_path, f"{name}/judge.py:label") for name in ("first", "second")]

    assert labels == ['"first"', '"second"']


async def test_a_function_that_kills_its_process_fails_one_label_only(tmp_path: Path) -> None:
    body = "import os, pathlib\ndef label(turns):\n    mark = pathlib.Path('once')\n"
    body += "    if not mark.exists():\n        mark.touch()\n        os._exit(7)\n    return True\n"
    write(tmp_path, "judge.py", body)
    line = opened(tmp_path, "judge.py:label")

    with pytest.raises(ServerFault, match="ended with exit code 7"):
        await line.reply(ASK)
    again = await line.reply(ASK)
    await line.close()

    assert again.text == "true"


async def test_a_function_sees_only_the_variables_that_the_judge_names(tmp_path: Path) -> None:
    write(tmp_path, "judge.py", "import os\ndef label(turns): return os.environ['CLF_KEY'] == 'k'\n")
    hidden = opened(tmp_path, "judge.py:label", CLF_KEY="k")
    named = opened(tmp_path, "judge.py:label", env=("CLF_KEY",), CLF_KEY="k")

    with pytest.raises(ServerFault, match=r"add `env: \[CLF_KEY\]`"):
        await hidden.reply(ASK)
    assert (await named.reply(ASK)).text == "true"
    await hidden.close()
    await named.close()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("judge.py", "`python` of judge `j` must be `module:function`"),
        ("gone.py:label", "judge `j`: there is no file `gone.py`"),
        ("judge.py:lable", "judge `j`: `judge.py` has no `lable`. Did you mean `label`?"),
        ("needs.py:label", "install `no_such_module_here` where Theodolite is installed, or put it beside the judge"),
    ],
)
def test_a_function_that_cannot_be_loaded_is_explained(tmp_path: Path, target: str, words: str) -> None:
    write(tmp_path, "judge.py", "def label(turns): return True\n")
    write(tmp_path, "needs.py", "import no_such_module_here\ndef label(turns): return True\n")

    with pytest.raises(InputError) as caught:
        opened(tmp_path, target)

    assert words in str(caught.value)
