"""What was said falls into sentences that an annotator can take by keyboard."""

from __future__ import annotations

import pytest

from theodolite.assessment.sentences import sentences


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("He dies. She lives!", ("He dies. ", "She lives!")),
        ('He said "no." Then he left.', ('He said "no." ', "Then he left.")),
        ("Mr. Hale knows, e.g. the end.", ("Mr. Hale knows, e.g. the end.",)),
        ("1. first\n2. second", ("1. first\n", "2. second")),
        ("See 3.5 and v1.2 there", ("See 3.5 and v1.2 there",)),
        ("One\n\nTwo", ("One\n\n", "Two")),
        ("Really?!  Yes…  no", ("Really?!  ", "Yes…  ", "no")),
        ("", ()),
    ],
)
def test_sentences_end_where_readers_expect_it(text, pieces):
    assert sentences(text) == pieces


@pytest.mark.parametrize("short", ["a. ", "Mr. "])
def test_a_reply_of_abbreviations_alone_is_read_once(short):
    reply = short * 100_000  # reading what stands before each mark again would take hours

    assert sentences(reply) == (reply,)
