"""Retrieval: which passages of a corpus fit a query, ranked by BM25 (ADR-0013)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from theodolite.domain.dialogue import Passage, Search
from theodolite.domain.scenario import Scenario

if TYPE_CHECKING:
    from bm25s import BM25

_WORD = re.compile(r"\w+")


def searches_of(scenarios: Iterable[Scenario]) -> dict[str, Search]:
    """Return the search of each scenario with a corpus, by name of the scenario."""
    return {
        scenario.name: CorpusSearch(scenario.corpus, limit=scenario.passages)
        for scenario in scenarios
        if scenario.corpus
    }


class CorpusSearch:
    """Searches one corpus; the index is built at the first query."""

    def __init__(self, corpus: Sequence[Passage], *, limit: int) -> None:
        """Keep the corpus.

        Args:
            corpus: Source of the search.
            limit: Maximum number of passages per query; count.
        """
        self._corpus = tuple((passage, words) for passage in corpus if (words := _words(passage.text)))
        self._limit = limit

    def __call__(self, query: str) -> tuple[Passage, ...]:
        """Return the passages that fit a query best, best first; passages share at least one word with it.

        Equal scores keep the order of the corpus, so that a session can be replayed.
        """
        words = _words(query)
        if not words or not self._corpus:
            return ()
        scores = [float(score) for score in self._index.get_scores(words)]
        ranked = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        return tuple(self._corpus[place][0] for place in ranked[: self._limit] if scores[place] > 0)

    @cached_property
    def _index(self) -> BM25:
        from bm25s import BM25

        index = BM25()
        index.index([words for _, words in self._corpus], show_progress=False)
        return index


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
