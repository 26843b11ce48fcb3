from __future__ import annotations

import csv
import io
import json
import re

import pytest

from theodolite.config.label_imports import COLUMNS, AskedItem, LabelKey, label_file_text, read_label_file
from theodolite.domain.annotating.label_sample import LabelSlip
from theodolite.domain.annotation import Outcome
from theodolite.domain.instrument import YES_NO, Question, QuestionLevel, Scale, ScaleKind

NUMBERS = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=5)
QUESTIONS = {
    "score": Question(name="score", text="How good?", scale=NUMBERS, may_be_unable=True),
    "leaked": Question(name="leaked", text="Did it leak?", scale=YES_NO, level=QuestionLevel.TURN),
    "why": Question(name="why", text="Why?", scale=Scale(kind=ScaleKind.TEXT)),
}
ASKED = AskedItem(guideline="g", version="abcd0123", questions={"score": (None,), "leaked": (1, 2), "why": (None,)})
KEY = LabelKey(
    items={("item1", "g"): ASKED, ("item2", "g"): ASKED},
    questions={("g", name): question for name, question in QUESTIONS.items()},
    own_words={"unable to determine": Outcome.MISSING, "does not apply": Outcome.NOT_APPLICABLE},
    annotators=("anna",),
    judges=("grounded",),
)
SLIP = LabelSlip(
    item="item1",
    turn=None,
    guideline="g",
    version="abcd0123",
    question="score",
    ask="How good?\n1: bad",
    allowed="1 to 5",
    material="",
    dialogue='=HYPERLINK("http://x")\nsecond, "line"',
)
HEAD = "item,turn,guideline,version,question,answer,reason,annotator\n"


@pytest.fixture
def read(tmp_path):
    def read(rows, name="labels.csv", *, head=HEAD, by=""):
        (tmp_path / name).write_text(head + rows, encoding="utf-8")
        return read_label_file(tmp_path / name, KEY, by=by)

    return read


def test_a_label_table_repeats_all_context_in_each_row_and_contains_no_formula():
    text = label_file_text([SLIP], name="labels.csv", by="anna")

    (row,) = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    assert tuple(row) == COLUMNS
    assert row["dialogue"] == "'" + SLIP.dialogue
    assert (row["ask"], row["answer"], row["annotator"]) == (SLIP.ask, "", "anna")


@pytest.mark.parametrize("beginning", ["=1+1", "+1", "-1 to 3", "@SUM(A1)", "\t=1", "\n=1", "\uff1d1"])
def test_cells_that_look_like_formulas_get_an_apostrophe(beginning):
    slip = LabelSlip(**{**{name: getattr(SLIP, name) for name in SLIP.__slots__}, "allowed": beginning})

    (row,) = csv.DictReader(io.StringIO(label_file_text([slip], name="a.csv").removeprefix("\ufeff"), newline=""))

    assert row["allowed"] == f"'{beginning}"


def test_json_lines_contain_the_texts_unchanged():
    (line,) = label_file_text([SLIP], name="labels.jsonl").splitlines()

    assert json.loads(line)["dialogue"] == SLIP.dialogue


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_an_unanswered_file_is_loaded_as_open(tmp_path, name):
    (tmp_path / name).write_text(label_file_text([SLIP, SLIP], name=name), encoding="utf-8")

    found = read_label_file(tmp_path / name, KEY)

    assert (found.labels, found.n_open, found.faults) == ((), 2, ())


@pytest.mark.parametrize("written", ["4", " 4 ", "4.0", "'4"])
def test_numbers_are_parsed_as_spreadsheets_write_them(read, written):
    (label,) = read(f"item1,,g,abcd0123,score,{written},because,anna\n").labels

    assert (label.outcome, label.value, label.turn, label.reason) == (Outcome.ANSWERED, "4", None, "because")


def test_labels_are_matched_case_insensitively(read):
    labels = read(
        "item1,1.0,g,,leaked,YES,,anna\nitem1,,,,score,Unable to determine,,anna\nitem2,,g,,why,It lied,,anna\n"
    ).labels

    assert [(label.question, label.turn, label.outcome.value, label.value) for label in labels] == [
        ("leaked", 1, "answered", "yes"),
        ("score", None, "missing", None),
        ("why", None, "answered", "It lied"),
    ]


FAULTY = """\
item9,,g,,score,4,,anna
item1,,h,,score,4,,anna
item1,,g,aaaa0000,score,4,,anna
item1,,g,,scor,4,,anna
item1,,g,,score,6,,anna
item1,7,g,,leaked,yes,,anna
item1,1,g,,leaked,does not apply,,anna
item1,,g,,score,4,,
item1,,g,,score,4,,grounded
item1,,g,,score,4,,anma
"""


def test_all_errors_are_reported_at_once_with_their_lines(read):
    found = read(FAULTY)

    assert [(fault.line, re.split(r"; |\. Did", fault.message)[0]) for fault in found.faults] == [
        (2, "there is no dialogue `item9` in the latest run"),
        (3, "`guideline` is `h`"),
        (4, "the file asks version aaaa0000 of guideline `g`, which is now abcd0123"),
        (5, "guideline `g` has no question `scor`"),
        (6, "`6` is not an answer to `score`"),
        (7, "`turn` is `7`"),
        (8, "`does not apply` is not an answer to `leaked`"),
        (9, "nobody says who answered"),
        (10, "`grounded` is a judge of the study"),
        (11, "the study names no person `anma`"),
    ]
    assert [fault.line for fault in found.faults if "mean `" in fault.message] == [2, 5, 11]
    assert found.labels == ()


def test_an_annotator_answers_each_question_once(read):
    same = "item1,,g,,score,4,,anna\n"

    (fault,) = read(same + same + "item1,,g,,score,5,,anna\n").faults

    assert fault.line == 4
    assert fault.message.startswith("`anna` answers `5` here and `4` in line 2")
    assert len(read(same + same + "item1,,g,,score,5,,ben\n").labels) == 2


def test_the_annotator_may_be_stated_outside_the_file(read):
    (label,) = read("item1,,g,,score,4,,\n", by="ben").labels
    (fault,) = read("item1,,g,,score,4,,anna\n", by="ben").faults

    assert label.annotator == "ben"
    assert fault.message == "`annotator` is `anna`, but --annotator-name says `ben`; leave one of the two out"


def test_a_file_without_the_needed_columns_is_no_label_file(read):
    (fault,) = read("item1,score,4\n", head="item,question,anwser\n").faults

    assert (fault.line, fault.message) == (1, "has no column `answer`. Did you mean `anwser`?")


def test_a_malformed_table_is_an_error_too(read):
    assert [fault.line for fault in read("item1,2\n").faults] == [2]


def test_attributes_are_loaded_for_annotators_who_answered_only(read):
    head = HEAD.replace("annotator", "annotator,annotator.language")

    found = read("item1,,g,,score,4,,anna,de\nitem2,,g,,score,,,bea,en\n", head=head)

    assert found.faults == ()
    assert found.annotator_attributes == {"anna": {"language": "de"}}


def test_one_annotator_with_two_languages_is_an_error_like_any_other(read):
    head = HEAD.replace("annotator", "annotator,annotator.language")

    found = read("item1,,g,,score,4,,anna,de\nitem2,,g,,score,9,,anna,en\n", head=head)

    assert [fault.line for fault in found.faults] == [3, 3]
    assert "`annotator.language` of `anna`" in found.faults[-1].message
