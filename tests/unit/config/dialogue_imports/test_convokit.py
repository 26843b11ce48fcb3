"""Corpora in ConvoKit's form."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from theodolite.config import dialogue_imports
from theodolite.config.dialogue_imports import is_corpus, read_corpus
from theodolite.config.threads import Utterance

UTTERANCES = [
    {
        "id": "u1",
        "speaker": "anna",
        "conversation_id": "u1",
        "reply_to": None,
        "timestamp": 5,
        "text": " Hi ",
        "meta": {},
    },
    {
        "id": "u2",
        "speaker": "b",
        "conversation_id": "u1",
        "reply_to": "u1",
        "timestamp": "6.5",
        "text": "Yes?",
        "meta": {"ok": True},
    },
]
SPEAKERS = {"anna": {"meta": {"role": "user"}, "vectors": []}, "b": {"meta": {"role": "bot"}, "vectors": []}}


def archive(folder="", **parts):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        for name, content in parts.items():
            ending = ".jsonl" if name == "utterances" else ".json"
            files.writestr(f"{folder}{name}{ending}", content if isinstance(content, str) else json.dumps(content))
    return packed.getvalue()


def lines(entries):
    return "\n".join(map(json.dumps, entries))


def told(stored):
    return [(one.line, one.message) for one in read_corpus(stored, "c.zip").faults]


def test_utterances_become_messages_with_the_metadata_of_their_speakers():
    whole = archive(
        "corpus/",
        utterances=lines(UTTERANCES),
        speakers=SPEAKERS,
        conversations={"u1": {"meta": {"topic": "tea", "tags": []}, "vectors": []}},
    )

    read = read_corpus(whole, "c.zip")

    assert read.faults == ()
    assert read.remarks[1] == Utterance(
        key="u2", conversation="u1", speaker="b", text="Yes?", line=2, answers="u1", at=6.5,
        metadata={"ok": "true", "speaker.role": "bot", "speaker": "b"},
    )  # fmt: skip
    assert (read.remarks[0].text, read.about) == ("Hi", {"u1": {"topic": "tea"}})


def test_older_corpora_use_the_keys_user_and_root():
    older = [{"id": "1", "user": "x", "root": "0", "reply-to": "0", "text": "A", "timestamp": None}]

    read = read_corpus(archive(utterances=lines(older), users={"x": {"side": "bot"}}), "c.zip")

    one = read.remarks[0]
    assert (one.conversation, one.answers, one.metadata) == ("0", "0", {"speaker.side": "bot", "speaker": "x"})


def test_utterances_alone_are_enough():
    stored = lines(UTTERANCES).encode()

    assert is_corpus(stored, "utterances.jsonl")
    assert len(read_corpus(stored, "utterances.jsonl").remarks) == 2
    assert not is_corpus(stored, "log.jsonl")


def test_all_errors_are_reported_at_once():
    broken = f'{lines(UTTERANCES[:1])}\n[1]\n{{"id": "u9", "text": "A"}}\nnonsense'

    assert told(archive(utterances=broken, speakers="{", conversations=[1])) == [
        (0, "speakers.json is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (2, "utterances.jsonl: is not a JSON object; expected one in each line"),
        (3, "utterances.jsonl: has no `speaker`"),
        (4, "utterances.jsonl: is not a JSON object; expected one in each line"),
        (0, "conversations.json must contain an object with one object for each id"),
    ]


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (archive(speakers=SPEAKERS), "holds no utterances.jsonl; expected a corpus of ConvoKit"),
        (b"PK\x03\x04 cut off", "cannot be unpacked: File is not a zip file"),
        (archive(utterances="\n"), "utterances.jsonl contains no utterance"),
    ],
    ids=["other archive", "broken", "empty"],
)
def test_a_file_in_another_format_is_refused(stored, message):
    assert told(stored) == [(0, message)]


def test_an_archive_that_unpacks_to_too_much_is_not_extracted(monkeypatch):
    monkeypatch.setattr(dialogue_imports, "MOST_UNPACKED", 10)

    assert "unpacks to more than" in told(archive(utterances=lines(UTTERANCES)))[0][1]


def test_errors_beyond_fifty_are_counted():
    assert told(archive(utterances="[1]\n" * 57))[-1] == (0, "has 7 further errors")
