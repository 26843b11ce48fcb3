"""Studies from Python: functions, rows and judges in, frames, comparisons and gates out."""

from __future__ import annotations

import asyncio
import builtins
import sys

import pandas as pd
import pytest

import theodolite as th
from theodolite.domain.errors import InputError
from theodolite.reporting.exporting.dialogue_rows import COLUMNS

pytestmark = pytest.mark.integration

CASES = [
    {"id": "returns", "prompt": "How long can I return it?", "expected": "30 days", "topic": "law"},
    {"id": "shipping", "prompt": "How long is shipping?", "expected": "3 days", "topic": "post"},
]
EXACT = {"exact": th.rule(equals="{{ expected }}")}
calls: list[str] = []


def wordy(prompt):
    calls.append(prompt)
    return "You have 30 days." if "return" in prompt else "Ask the post."


async def terse(prompt, history):
    await asyncio.sleep(0)
    return "30 days" if "return" in prompt else f"3 days{'!' * len(history)}"


def breaks(prompt):
    return prompt.split("?")[7]


def states(turns, context):
    return context.rpartition("\n")[2] in turns[-1]["response"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls.clear()


@pytest.fixture
def result():
    judges = {**EXACT, "stated": th.judge("Is the expected answer stated?", defect="== no", by=states)}
    gates = {"stated": "count <= 1", "exact": "count <= 1"}
    return th.run(
        {"study": "smoke", "gates": gates}, applications={"v1": wordy, "v2": terse}, cases=CASES, judges=judges
    )


def test_a_frame_joins_the_cases_by_their_ids(result):
    frame = result.to_frame()
    joined = frame.merge(pd.DataFrame(CASES), left_on="case", right_on="id", suffixes=("", "_given"))

    assert list(frame.columns) == [*COLUMNS, "group_topic"]
    assert len(joined) == len(frame) == 8
    assert (joined.prompt == joined.prompt_given).all()
    assert (joined.expected == joined.expected_given).all()
    assert (joined.group_topic == joined.topic).all()


def test_rules_and_functions_produce_the_labels(result):
    labels = result.to_frame().set_index(["application", "case", "judge"]).label

    assert labels["v1", "returns", "exact"] == "no"
    assert labels["v1", "returns", "stated"] == "yes"
    assert labels["v1", "shipping", "stated"] == "no"
    assert set(labels["v2"]) == {"yes"}


def test_a_comparison_lists_fixed_and_regressed_cases(result):
    forth, back = result.compare("v1", "v2"), result.compare("v2", "v1")

    assert (len(forth.regressed), len(back.fixed)) == (0, 0)
    assert set(forth.fixed.to_frame().dialogue) == set(back.regressed.labels)
    assert set(back.regressed.to_frame().case) == {"returns", "shipping"}
    with pytest.raises(InputError, match=r"no application `v3`"):
        result.compare("v1", "v3")


def test_a_run_passes_only_if_all_gates_pass(result):
    assert not result.gates.met
    assert "exact  v1, defect  2 of 2" in repr(result.gates)
    assert "not met" in repr(result.gates)


def test_a_result_has_five_lines_and_a_view_for_notebooks(result):
    assert len(repr(result).splitlines()) == 5
    assert repr(result).splitlines()[0] == "smoke  run 1  finished"
    html = result._repr_html_()
    assert html.count("<svg") == 2
    assert "4 of 4 dialogues" in html


def test_a_dialogue_shows_reasons(result):
    assert "no. the response is not `30 days`" in repr(result.dialogue("v1/d001"))


def test_a_second_call_repeats_nothing_and_an_edited_function_is_called():
    study = {"study": "smoke"}
    th.run(study, applications={"v1": wordy}, cases=CASES, judges=EXACT)
    th.run(study, applications={"v1": wordy}, cases=CASES, judges=EXACT)
    assert len(calls) == 2

    def wordy_too(prompt):
        calls.append(prompt)
        return "30 days"

    edited = th.run(study, applications={"v1": wordy_too}, cases=CASES, judges=EXACT)
    assert len(calls) == 4
    assert edited.to_frame().response.tolist() == ["30 days", "30 days"]


def test_an_edit_of_one_function_repeats_no_call_of_others():
    study = {"study": "smoke"}
    th.run(study, applications={"v1": wordy, "v2": terse}, cases=CASES, judges=EXACT)
    th.run(study, applications={"v1": wordy, "v2": wordy}, cases=CASES, judges=EXACT)

    assert len(calls) == 4


async def test_the_async_function_runs_in_the_loop_of_the_caller():
    loop = asyncio.get_running_loop()

    async def here(prompt):
        assert asyncio.get_running_loop() is loop
        return "30 days" if "return" in prompt else "3 days"

    result = await th.run_async({"study": "smoke"}, applications={"v1": here}, cases=CASES, judges=EXACT)

    assert set(result.to_frame().label) == {"yes"}


def test_an_exception_is_a_failure_with_its_last_frame():
    result = th.run({"study": "smoke"}, applications={"v1": breaks}, cases=CASES, judges=EXACT)
    frame = result.to_frame()

    assert len(frame) == 2
    assert frame.failure_source.tolist() == ["application"] * 2
    assert frame.failure_message.str.contains(
        r"IndexError: list index out of range \(test_python_api.py:\d+ in breaks"
    ).all()


def test_rows_can_be_a_data_frame_with_missing_cells():
    rows = pd.DataFrame(CASES).drop(columns="id")
    rows.loc[1, "expected"] = None
    frame = th.run({"study": "smoke"}, applications={"v2": terse}, cases=rows, judges=EXACT).to_frame()

    assert frame.case.tolist() == ["c001", "c002"]
    assert frame.outcome.tolist() == ["answered", "missing"]
    assert "no expected answer" in frame.reason[1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"study": {}}, 'the study needs a name: `{"study": "smoke", ...}`; got None', id="no name"),
        pytest.param({"cases": [{"question": "a"}]}, "case 1 has no `prompt`; its columns are question", id="columns"),
        pytest.param({"cases": []}, "`cases` has no rows", id="no rows"),
        pytest.param({"cases": [CASES[0], CASES[0]]}, "case 2 has the id `returns`", id="twice"),
        pytest.param(
            {"applications": {"v1": "bot.py"}}, "application `v1` is a str; expected a function", id="no function"
        ),
        pytest.param(
            {"judges": {"exact": states}}, "judge `exact` is a function; expected `theodolite.rule", id="bare"
        ),
        pytest.param({"study": "smoke"}, "belong to a study that is given as a dict; `smoke` is a path", id="path"),
    ],
)
def test_an_error_about_invalid_input_states_the_expected_value(changes, message):
    given = {"study": {"study": "smoke"}, "applications": {"v1": wordy}, "cases": CASES, "judges": EXACT} | changes

    with pytest.raises(InputError) as raised:
        th.run(given.pop("study"), **given)
    assert message in str(raised.value)


def test_errors_of_a_study_equal_those_of_check():
    with pytest.raises(th.StudyError, match=r"Did you mean\s+`exact`"):
        th.run(
            {"study": "smoke", "gates": {"exat": "count <= 1"}}, applications={"v1": wordy}, cases=CASES, judges=EXACT
        )


def test_an_error_about_missing_pandas_names_the_package(result, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **keywords):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.delitem(sys.modules, "pandas")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install 'theodolite\[pandas\]'"):
        result.to_frame()


def test_an_error_about_a_returned_dict_lists_the_accepted_types():
    def returns_dict(prompt):
        return {"text": prompt}

    frame = th.run({"study": "smoke"}, applications={"v1": returns_dict}, cases=CASES, judges=EXACT).to_frame()

    assert set(frame.failure_message) == {
        "the function returned a dict with `text`; accepted: text, or a dict with `response`"
    }
