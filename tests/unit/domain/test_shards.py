"""Shards divide a plan, and their files carry results from one workspace to another."""

from __future__ import annotations

import pytest
from tests.fakes.builders import dialogue

from theodolite.domain.annotation import Annotation, Answer, Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.flow import JournalEntry, Reply
from theodolite.domain.shards import (
    AnnotationResult,
    NetworkEvent,
    SessionResult,
    Shard,
    ShardHeader,
    header_in,
    sessions_in,
    shard_lines,
    shard_number,
)

ANNOTATION = Annotation(
    unit="unit-2",
    dialogue="unit-1",
    annotator="judge",
    annotator_version="e" * 64,
    guideline="polite",
    instrument_version="f" * 64,
    answers=(Answer(question="label", outcome=Outcome.ANSWERED, value="no"),),
)
HEADER = ShardHeader(
    theodolite_shard=1,
    study="s",
    study_version="a" * 64,
    plan_version="b" * 64,
    shard="1/2",
    network=(NetworkEvent(application="bot", kind="watched"),),
)
ENTRY = JournalEntry(position=0, request_hash="c" * 64, reply=Reply(text="Größe \u2028 \ud800?", latency_s=2.0))
SESSION = SessionResult(
    work_key="d" * 64,
    position=4,
    entries=(ENTRY,),
    dialogue=dialogue(),
    annotations=(AnnotationResult(annotator="judge", entries=(), annotation=ANNOTATION),),
)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12])
def test_shards_are_a_partition_into_nearly_equal_parts(count):
    parts = [list(Shard(number=number, count=count).of(range(10))) for number in range(1, count + 1)]

    assert sorted(position for part in parts for position in part) == list(range(10))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_shard_file_returns_the_written_data():
    lines = list(shard_lines(HEADER, [SESSION, SESSION]))

    assert all(line.count("\n") == 1 and line.encode() for line in lines)
    assert header_in("x", lines[0]) == HEADER
    assert list(sessions_in("x", lines)) == [SESSION, SESSION]


def test_a_shard_file_without_sessions_is_complete():
    assert list(sessions_in("x", shard_lines(HEADER, []))) == []


@pytest.mark.parametrize("n_lines", [0, 1, 2, 3])
def test_a_truncated_shard_file_is_refused(n_lines):
    lines = list(shard_lines(HEADER, [SESSION, SESSION]))[:n_lines]

    with pytest.raises(InputError, match="`x` is not whole"):
        list(sessions_in("x", lines))


def test_a_shard_file_of_a_later_format_is_refused():
    line = next(shard_lines(HEADER, [])).replace('"theodolite_shard":1', '"theodolite_shard":2')

    with pytest.raises(InputError, match="has form 2 of shards, and this program reads form 1"):
        header_in("x", line)


@pytest.mark.parametrize("text", ["", "2", "0/4", "5/4", "a/b", "1/2/3", "-1/2"])
def test_other_texts_are_not_shard_names(text):
    with pytest.raises(InputError, match=r"e\.g\. `2/8`"):
        shard_number(text)


def test_a_shard_name_is_displayed_as_written():
    assert str(shard_number(" 2 / 8 ")) == "2/8"
