from __future__ import annotations

import pytest

from tests.fakes.event import an_event
from theodolite.config.dialogue_imports import BringColumns, guessed_columns, read_brought
from theodolite.config.tables import table_of
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.live import RecordedTurn

PLACED = {"of_application": "blue", "of_scenario": "shop", "of_level": "red_teaming"}
CHAT = BringColumns(prompt="said", response="reply", id="chat", turn="n", tester="who", **PLACED)


def read(text, means=CHAT, name="log.csv"):
    return read_brought(table_of(text.encode(), name), means, an_event())


def told(read):
    return [(fault.line, fault.message) for fault in read.faults]


def test_rows_become_dialogues_in_the_order_of_the_table():
    found = read("chat,n,who,said,reply\na,2,x,C,D\nb,1,y,E,F\na,1,x,A,B\n").dialogues

    assert [(one.item, one.tester, one.line) for one in found] == [("a", "x", 2), ("b", "y", 3)]
    assert found[0].turns == (RecordedTurn(prompt="A", response="B"), RecordedTurn(prompt="C", response="D"))
    assert {(one.application, one.scenario, one.level, one.held_by) for one in found} == {
        ("blue", "shop", Level.RED_TEAMING, TesterType.RECORDED)
    }


def test_columns_state_per_row_what_the_study_does_not_set():
    means = BringColumns(application="bot", scenario="about", level="how", held_by="person", of_scenario="shop")
    rows = '{"prompt":"A","response":"B","bot":"green","about":"","how":"Field testing"}\n'

    (one,) = read(rows, means, "log.jsonl").dialogues

    assert (one.application, one.scenario, one.level, one.held_by) == (
        "green",
        "shop",
        Level.FIELD_TESTING,
        TesterType.PERSON,
    )


def test_all_errors_are_reported_at_once_with_line_and_suggestion():
    means = BringColumns(id="chat", turn="n", application="bot", level="how", of_scenario="shop")
    rows = ("a,1,bleu,red teeming,A,B", "b,x,green,red teaming,A,B", "c,1,green,field testing,,")

    assert told(read("\n".join(("chat,n,bot,how,prompt,response", *rows)), means)) == [
        (2, "names the application `bleu`, which the study does not have. Did you mean `blue`?"),
        (2, "says `red teeming` for level. Did you mean `red teaming`?"),
        (3, "has `x` in column `n`; expected the number of the turn"),
        (4, "has neither prompt nor response in a turn of `c`; say why it is withheld"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chat,n,who,sad,reply\n", "has no column `said`. Did you mean `sad`?"),
        ("", "is empty; expected a line of column names and rows"),
        ("chat,n,who,said,reply\n", "has column names and no rows"),
        ("chat,n,who,said,reply\na,1\n", "has 2 fields where the header names 5; fill it in"),
    ],
    ids=["column", "empty", "no rows", "ragged"],
)
def test_an_unreadable_table_states_why(text, message):
    assert [message for _, message in told(read(text))] == [message]


def test_an_unnamed_column_is_asked_for():
    (fault,) = read("a,b\n1,2\n", BringColumns(prompt="", response="b", **PLACED)).faults

    assert fault.message == "needs a column that is the prompt; it has a, b"


def test_errors_beyond_fifty_are_counted():
    rows = "prompt,response\n" + "A,B\n" * 57

    found = read(rows, BringColumns(**(PLACED | {"of_application": "red"}))).faults

    assert (len(found), found[-1].message) == (51, "has 7 further errors")


def test_columns_are_detected_by_name_and_other_values_come_from_the_study():
    table = table_of(b"id,question,answer,level\n1,A,B,red teaming\n", "log.csv")

    means = guessed_columns(table, an_event())

    assert (means.id, means.prompt, means.response, means.level) == ("id", "question", "answer", "level")
    assert (means.of_application, means.of_scenario, means.of_level) == ("blue", "shop", "")
    assert len(read_brought(table, means, an_event()).dialogues) == 1


def test_a_column_of_source_material_is_detected_by_its_name():
    text = '{"prompt":"A","response":"B","contexts":["One.","Two."]}\n'
    table = table_of(text.encode(), "log.jsonl")

    means = guessed_columns(table, an_event())
    (one,) = read_brought(table, means, an_event()).dialogues

    assert (means.context, one.turns[0].context) == ("contexts", "One.\n\nTwo.")
