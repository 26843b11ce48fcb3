"""Laws of sentences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from theodolite.assessment.form_rules import sentences

TEXTS = st.text(alphabet=st.sampled_from("ab. !?\n\"'1…)"), max_size=60) | st.text(max_size=60)


@given(TEXTS)
def test_the_sentences_of_a_text_join_to_the_text(text):
    assert "".join(sentences(text)) == text


@given(TEXTS)
def test_no_sentence_of_a_non_blank_text_is_blank(text):
    assert all(piece.strip() for piece in sentences(text)) or not text.strip()
