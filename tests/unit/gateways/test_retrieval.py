"""A search finds what shares words with the query, and the same each time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.dialogue import Passage
from theodolite.gateways.retrieval import CorpusSearch

CORPUS = tuple(
    Passage(name=str(place), text=text)
    for place, text in enumerate(
        [
            "Returns are free for thirty days.",
            "The kettle boils in two minutes.",
            "!!!",
            "A kettle, a KETTLE!",
            "Returns",
        ]
    )
)


def found(query: str, *, limit: int = 9) -> list[str]:
    """Return the names of what a query finds."""
    return [passage.name for passage in CorpusSearch(CORPUS, limit=limit)(query)]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("How fast is the kettle?", ["1", "3"]),
        ("kettle", ["3", "1"]),
        ("RETURNS", ["4", "0"]),
        ("umbrella", []),
        ("?!", []),
        ("", []),
    ],
)
def test_the_best_passage_is_first_and_unrelated_ones_are_absent(query: str, names: list[str]) -> None:
    assert found(query) == names


def test_the_number_of_passages_is_limited_to_the_request() -> None:
    assert found("kettle", limit=1) == ["3"]


def test_equal_passages_preserve_the_order_of_the_corpus() -> None:
    twins = tuple(Passage(name=name, text="the same words") for name in "abc")

    assert [passage.name for passage in CorpusSearch(twins, limit=2)("words")] == ["a", "b"]


@pytest.mark.parametrize("corpus", [(), (Passage(name="a", text="..."),)])
def test_a_corpus_without_words_has_no_passages(corpus: tuple[Passage, ...]) -> None:
    assert CorpusSearch(corpus, limit=3)("words") == ()


@given(st.text(max_size=30))
def test_the_same_query_gives_the_same_result_in_a_fresh_index(query: str) -> None:
    assert found(query) == found(query)
