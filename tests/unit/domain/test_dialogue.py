from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.builders import dialogue, turn

from theodolite.domain.dialogue import (
    FoundPassages,
    Passage,
    found_in,
    found_text,
    in_turn,
    material_with,
    passages_in,
)
from theodolite.domain.errors import InputError


@pytest.mark.parametrize("numbers", [[0], [2], [1, 3], [2, 1], [1, 1]])
def test_turns_are_numbered_from_one_without_gaps(numbers):
    with pytest.raises(InputError, match="numbered from 1"):
        dialogue(*(turn(number) for number in numbers))


def test_one_withheld_turn_withholds_the_dialogue():
    assert dialogue(turn(1), turn(2, withheld="harmful")).withheld == "harmful"
    assert dialogue(turn(1), turn(2)).withheld == ""


LINES = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).filter(str.strip)

PASSAGES = st.lists(st.builds(Passage, name=LINES, text=LINES), max_size=3).map(tuple)


def test_blank_lines_separate_paragraphs():
    found = passages_in("a.md", "\n\n# One\nmore \n \t\n\nTwo\n")

    assert [(passage.name, passage.text) for passage in found] == [
        ("a.md, paragraph 1", "# One\nmore"),
        ("a.md, paragraph 2", "Two"),
    ]


@given(st.text())
def test_every_word_of_a_document_is_preserved(text):
    kept = " ".join(passage.text for passage in passages_in("a", text))

    assert kept.split() == text.split()


@given(LINES, st.lists(st.tuples(LINES, PASSAGES), min_size=1, max_size=3))
def test_search_results_are_restored_from_the_record_of_a_dialogue(source, searches):
    records = [in_turn(n, found_text(query, found)) for n, (query, found) in enumerate(searches, start=1)]

    material, found = found_in(material_with(source, *records), [query for query, _ in searches])

    assert material == source
    assert found == tuple(FoundPassages(turn=n, passages=one) for n, (_, one) in enumerate(searches, start=1))


def test_material_without_searches_is_unchanged():
    assert found_in("Returns are free.", ["Returns?"]) == ("Returns are free.", ())
    assert found_in("Returns are free.", []) == ("Returns are free.", ())


def test_a_prompt_of_several_paragraphs_does_not_break_its_record():
    prompt, passage = "One.\n\n[1] Two", Passage(name="faq, paragraph 1", text="Free\nfor all.")

    assert found_in(in_turn(1, found_text(prompt, (passage,))), [prompt]) == (
        "",
        (FoundPassages(turn=1, passages=(passage,)),),
    )
