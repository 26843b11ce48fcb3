from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.passage import passages_in


def test_blank_lines_keep_paragraphs_apart():
    found = passages_in("a.md", "\n\n# One\nmore \n \t\n\nTwo\n")

    assert [(passage.name, passage.text) for passage in found] == [
        ("a.md, paragraph 1", "# One\nmore"),
        ("a.md, paragraph 2", "Two"),
    ]


@given(st.text())
def test_no_word_of_a_document_is_lost(text):
    kept = " ".join(passage.text for passage in passages_in("a", text))

    assert kept.split() == text.split()
