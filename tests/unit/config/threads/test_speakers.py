"""Who speaks for the application, and remarks as turns."""

from __future__ import annotations

import pytest

from theodolite.config.threads import Remarks, Utterance, Voices, scalars, silent_among, turns_of, with_guess
from theodolite.config.yaml_source import LocatedDiagnostic


def said(*pairs, conversation="c", field="role"):
    """Return remarks of roles and words that answer each other."""
    return [
        Utterance(
            key=f"{conversation}{n}",
            conversation=conversation,
            speaker=f"who-{role}",
            text=text,
            line=n,
            answers=f"{conversation}{n - 1}" if n > 1 else "",
            metadata={field: role},
        )
        for n, (role, text) in enumerate(pairs, 1)
    ]


def file_of(*remarks, about=None):
    return Remarks(file="f", remarks=tuple(remarks), about=about or {})


def turns(remarks, voices=None):
    told = turns_of(remarks, with_guess(voices or Voices(), remarks))
    return [(row["id"], row["turn"], row["prompt"], row["response"]) for row in told.table.rows], told


def test_alternating_speakers_form_turns():
    rows, told = turns(file_of(*said(("user", "A"), ("Assistant", "B"), ("user", "C"), ("Assistant", "D"))))

    assert rows == [("c", "1", "A", "B"), ("c", "2", "C", "D")]
    assert (told.table.lines, told.notes) == ((1, 3), ())


def test_consecutive_messages_of_one_side_are_one_prompt_and_either_side_may_start():
    rows, told = turns(file_of(*said(("bot", "Hello."), ("user", "A"), ("user", "B"), ("bot", "C"), ("user", "Bye."))))

    assert rows == [("c", "1", "", "Hello."), ("c", "2", "A\n\nB", "C"), ("c", "3", "Bye.", "")]
    assert told.notes == ("Remarks that follow one of the same side, or are empty, and make one turn with it: 1.",)


def test_messages_of_neither_side_are_skipped_and_counted():
    rows, told = turns(file_of(*said(("system", "Be kind."), ("user", "A"), ("assistant", "B"))))

    assert rows == [("c", "1", "A", "B")]
    assert told.notes == ("Remarks of system, which stay out: 1.",)


def test_a_dialogue_without_a_reply_is_skipped_and_counted():
    rows, told = turns(file_of(*said(("user", "A"), ("bot", "B")), *said(("user", "C"), conversation="d")))

    assert [row[0] for row in rows] == ["c"]
    assert told.notes == ("Dialogues without a word of the application, which stay out: 1.",)


def test_messages_without_the_field_belong_to_testers_and_are_counted():
    remarks = [*said(("", "A"), ("bot", "B"))]

    rows, told = turns(file_of(*remarks), Voices(speaker_field="role", application=("bot",)))

    assert rows == [("c", "1", "A", "B")]
    assert told.notes == ("Remarks that say nothing of `role` and are taken as testers': 1.",)


@pytest.mark.parametrize(
    ("voices", "message"),
    [
        (Voices(speaker_field="rolle"), "has no field `rolle` that tells who speaks. Did you mean `role`?"),
        (Voices(), "does not tell who speaks for the application; `role` is one of seeker, helper"),
        (
            Voices(speaker_field="role", application=("helpr",)),
            "has no remark whose `role` is `helpr`. Did you mean `helper`?",
        ),
    ],
)
def test_the_speaker_of_the_application_must_be_known(voices, message):
    _, told = turns(file_of(*said(("seeker", "A"), ("helper", "B"))), voices)

    assert [one.message for one in told.table.faults] == [message]


def test_errors_of_the_file_and_of_its_speakers_are_reported_together():
    remarks = Remarks(
        file="f",
        remarks=(*said(("user", "A")), *said(("user", "A"))),
        faults=(LocatedDiagnostic(file="f", message="x"),),
    )

    assert len(turns(remarks)[1].table.faults) == 2


def test_metadata_of_conversation_and_tester_become_columns():
    first, second = said(("user", "A"), ("bot", "B"))
    known = {**first.metadata, "speaker.age": "30"}
    tester = Utterance(key="c1", conversation="c", speaker="anna", text="A", line=1, metadata=known)

    _, told = turns(file_of(tester, second, about={"c": {"topic": "tea"}}))

    row = told.table.rows[0]
    assert (row["tester"], row["replier"], row["speaker.age"], row["conversation.topic"]) == (
        "anna",
        "who-bot",
        "30",
        "tea",
    )


def test_a_role_is_not_a_name():
    remarks = [Utterance(key="1", conversation="c", speaker="User", text="A", line=1, metadata={"speaker": "User"})]
    remarks += [
        Utterance(key="2", conversation="c", speaker="bot", text="B", line=2, answers="1", metadata={"speaker": "bot"})
    ]

    assert turns(file_of(*remarks))[1].table.rows[0]["tester"] == ""


def test_usual_names_are_detected_in_the_usual_fields():
    remarks = file_of(*said(("user", "A"), ("GPT", "B")), *said(("x", "A"), ("Bot", "B"), field="speaker.type"))

    voices = with_guess(Voices(), remarks)

    assert (voices.speaker_field, voices.application, silent_among(voices, remarks)) == ("speaker.type", ("Bot",), ())


def test_only_plain_values_are_imported():
    assert scalars({"a": "x", "b": 1, "c": True, "d": None, "e": [1], "f": {"g": 1}}) == {
        "a": "x",
        "b": "1",
        "c": "true",
    }
