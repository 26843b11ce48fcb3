import functools
import json

from tests.fakes.evidence import facts
from tests.fakes.report import assets, data_of, evidence_named, findings_named
from theodolite.domain.flow import Message, Reply, Speaker
from theodolite.domain.status import Call
from theodolite.reporting.page.dialogues import LETTERS, CallTexts
from theodolite.reporting.page.report import report_pieces


def call(words):
    return Call(reply=Reply(text="Yes."), prompt=(Message(speaker=Speaker.USER, text=f"A long guideline.\n{words}"),))


@functools.cache
def data(letters=LETTERS):
    made = facts(show_command="theodolite show shop")
    page = "".join(report_pieces(evidence_named("called"), findings_named("live"), made, assets(), letters=letters))
    return data_of(page)


def test_lines_shared_by_prompts_are_stored_once():
    texts = CallTexts(room=10_000)

    first, second = texts.entry([call("Ana")]), texts.entry([call("Ben")])

    assert [*texts.lines] == ["[user]", "A long guideline.", "Ana", "Yes.", "Ben"]
    assert (first["texts"][0], second["texts"][0]) == (["prompt 1", [0, 1, 2]], ["prompt 1", [0, 1, 4]])


def test_oversized_texts_are_omitted_and_their_cost_is_not():
    texts = CallTexts(room=20)

    assert texts.entry([call("Ana")]) == {"spent": "1 call", "leftOut": True}
    assert (texts.room, texts.lines) == (20, {})


def test_the_page_contains_the_cost_of_each_label_and_each_dialogue():
    case = data()["cases"][0]

    assert case["spent"] == "2 calls, 1,200 tokens in, 40 out, $0.00041"
    assert case["annotations"][0]["calls"]["spent"] == "2 calls, 1,200 tokens in, 40 out, $0.00041"
    assert data()["cases"][17]["failures"][0]["spent"] == "1 call, 600 tokens in, 20 out, $0.000205"


def test_texts_of_calls_count_towards_the_size_of_a_file():
    judged = [a for case in data(40_000)["cases"] for a in case["annotations"]]

    assert {"leftOut" in a["calls"] for a in judged} <= {True, False}
    assert len(data(40_000)["lines"]) < len(data()["lines"])
    assert len(json.dumps(data(40_000)["cases"])) < len(json.dumps(data()["cases"]))
