"""No input on the command line or in files ends in a traceback."""

import tempfile
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.fakes.terminal import theodolite
from theodolite.cli.main import COMMANDS

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

EXAMPLES = files("theodolite") / "resources" / "examples"
TEXTS = {name: (EXAMPLES / name / "study.yaml").read_bytes() for name in "abc"}
FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

WORDS = st.one_of(
    st.sampled_from(
        [
            *(name for group in COMMANDS.values() for name in group),
            "--json",
            "--help",
            "--limit",
            "3",
            "-1",
            "--",
            "--out",
            "--all",
            "",
        ]
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
)
CHUNKS = st.one_of(
    st.binary(max_size=6),
    st.sampled_from(
        [b"{", b"}", b"[", b"]", b": ", b"\n", b"\t", b'"', b"'", b"&a ", b"*a ", b"<<: ", b"!!python/x ", b"- "]
    ),
    st.sampled_from(
        [b"yes", b"~", b"1e999", b"-0", b".nan", b"{{ x }}", b"{% for", b"\xff\xfe", b"\xef\xbb\xbf", b"\0"]
    ),
)


def harmless(words: list[str]) -> bool:
    """Exclude commands that would run a study or write into the current folder."""
    return not {"demo", "init", "schemas", "run", "test", "assess"} & set(words) or "--help" in words


@given(st.lists(WORDS, max_size=5).filter(harmless))
@example(["check", ""])
@example(["check", "x" * 5000])
@example(["check", "--json", "--", "--json"])
@FEW
def test_no_command_line_ends_in_a_traceback(words):
    ended = theodolite(*words)

    assert ended.code in {0, 2, 3}
    assert "Traceback" not in ended.said


@given(st.sampled_from("abc"), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), CHUNKS), min_size=1, max_size=4))
@FEW
def test_no_edit_of_an_example_ends_in_a_traceback(name, edits):
    text = TEXTS[name]
    for place, cut, chunk in edits:
        at = int(place * len(text))
        text = text[:at] + chunk + text[at + cut :]

    check(text)


@given(st.binary(max_size=200))
@FEW
def test_no_bytes_in_place_of_a_study_end_in_a_traceback(raw):
    check(raw)


@given(st.binary(max_size=120), st.sampled_from(["answers.csv", "answers.jsonl", "answers.csv.gz"]))
@FEW
def test_no_bytes_in_place_of_a_table_end_in_a_traceback(raw, table):
    check(TEXTS["b"].replace(b"answers.csv", table.encode()), **{table: raw})


def check(study: bytes, **others: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "study.yaml").write_bytes(study)
        for name, raw in others.items():
            (Path(folder) / name).write_bytes(raw)
        ended = theodolite("check", folder, "--json")
    assert ended.code in {0, 2}
    assert ended.found["exit_code"] == ended.code
    assert "Traceback" not in ended.said
