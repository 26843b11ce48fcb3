"""Dialogues as chat lines and as a corpus of ConvoKit, and the card of a data set."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

from ruamel.yaml import YAML

from tests.fakes.evidence import changed, live_evidence, xstest_evidence
from theodolite.config.dialogue_imports import read_corpus
from theodolite.domain.dialogue import TesterType
from theodolite.reporting.exporting.chat_formats import (
    chat_lines,
    convokit_files,
    convokit_utterances,
    dataset_card,
)
from theodolite.reporting.exporting.dialogue_rows import dialogue_columns


def test_a_line_holds_a_dialogue_with_its_labels():
    lines = [json.loads(line) for line in chat_lines(live_evidence())]

    assert len(lines) == 58
    first = lines[0]
    assert [message["role"] for message in first["messages"]] == ["user", "assistant"] * 3
    assert first["metadata"]["labels"] == [
        {
            "judge": "grounded",
            "judge_kind": "model",
            "guideline": "groundedness",
            "question": "score",
            "turn": None,
            "outcome": "answered",
            "label": "2",
            "defect": True,
        }
    ]
    outcomes = [label["outcome"] for line in lines for label in line["metadata"]["labels"]]
    assert outcomes.count("unparseable") == 1


def test_dialogues_of_people_and_without_texts_are_excluded():
    evidence = xstest_evidence()
    withheld = sum(bool(dialogue.withheld) for dialogue in evidence.archive.dialogues())
    live = live_evidence()
    people = tuple(replace(dialogue, held_by=TesterType.PERSON) for dialogue in live.archive.dialogues())
    live = changed(live, dialogues=people)

    assert withheld > 0
    assert len(list(chat_lines(evidence))) == 2_250 - withheld
    assert list(chat_lines(live)) == []
    assert len(list(chat_lines(live, include_text=True))) == 58


def test_final_labels_are_labels_of_the_reference():
    line = json.loads(next(chat_lines(xstest_evidence())))

    assert [label["judge"] for label in line["metadata"]["labels"]][-1] == "reference"


def test_the_data_card_describes_every_column_of_the_table():
    evidence = xstest_evidence()
    card = dataset_card(evidence, 11_250, "data/train.parquet")
    front = YAML(typ="safe").load(card.split("---\n")[1])

    features = front["dataset_info"]["features"]
    assert [feature["name"] for feature in features] == list(dialogue_columns(evidence))
    assert front["dataset_info"]["splits"] == [{"name": "train", "num_examples": 11_250}]
    assert front["configs"][0]["data_files"] == [{"split": "train", "path": "data/train.parquet"}]
    assert "Planned sessions: 2,250." in card
    assert all(f"`{one.name}`" in card for one in evidence.study.applications)


def test_the_importer_reads_every_text_of_a_convokit_corpus():
    evidence = live_evidence()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("corpus/utterances.jsonl", "".join(convokit_utterances(evidence)))
        for name, text in convokit_files(evidence).items():
            archive.writestr(f"corpus/{name}", text)

    read = read_corpus(packed.getvalue(), "corpus.zip")

    assert not read.faults
    texts = {}
    for one in read.remarks:
        texts.setdefault(one.conversation, []).append((one.metadata["side"], one.text))
    assert texts == {
        one.label: [pair for turn in one.turns for pair in (("tester", turn.prompt), ("application", turn.response))]
        for one in evidence.archive.dialogues()
    }


def test_a_convokit_corpus_has_labels_and_replies():
    evidence = xstest_evidence()
    chats = [json.loads(line) for line in chat_lines(evidence)]
    files = {name: json.loads(text) for name, text in convokit_files(evidence).items()}

    assert {key: one["meta"] for key, one in files["conversations.json"].items()} == {
        chat["metadata"]["dialogue"]: chat["metadata"] for chat in chats
    }
    lines = [json.loads(line) for line in convokit_utterances(evidence)]
    assert {line["speaker"] for line in lines} == set(files["speakers.json"])
    ids = {line["id"] for line in lines}
    assert all(line["reply-to"] is None or line["reply-to"] in ids for line in lines)
    assert sum(line["reply-to"] is None for line in lines) == len(chats)
