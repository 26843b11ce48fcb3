"""Laws of identity."""

from __future__ import annotations

import json
import random

from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.identity import canonical_json, digest, keyed_draw, version_of
from theodolite.domain.live import RecordedDialogue
from theodolite.domain.persona import ParameterRow, Persona

TEXTS = st.text(max_size=20)
ROWS = st.dictionaries(TEXTS, TEXTS, max_size=6)


class TestOrder:
    """The order in which a mapping was written is no part of its identity."""

    @given(ROWS, st.randoms(use_true_random=False))
    def test_the_order_of_keys_does_not_change_the_version(self, row, shuffler: random.Random):
        items = list(row.items())
        shuffler.shuffle(items)

        assert version_of(ParameterRow(values=row)) == version_of(ParameterRow(values=dict(items)))


class TestContent:
    """Equal records have equal versions, and different ones different versions."""

    @given(ROWS, ROWS, st.integers(0, 2), st.integers(0, 2))
    def test_versions_are_equal_only_for_equal_content(self, first, second, one, other):
        here, there = ParameterRow(values=first, line=one), ParameterRow(values=second, line=other)

        assert (version_of(here) == version_of(there)) == (here == there)

    @given(st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=4))
    def test_parts_of_a_digest_are_separate(self, first, second):
        assert (digest(*first) == digest(*second)) == (first == second)


class TestDefaults:
    """A field written at its default is the same as a field left out."""

    @given(TEXTS)
    def test_default_fields_do_not_change_the_version(self, text):
        bare = Persona(key="k", name="n", group="g", text=text, goal="", model="m")
        written = Persona(
            key="k", name="n", group="g", text=text, goal="", model="m", starter="", parameters={}, template_version=""
        )

        assert canonical_json(bare) == canonical_json(written)


class TestJson:
    """The canonical form is JSON, with sorted keys and nothing that is not needed."""

    @given(ROWS, TEXTS)
    def test_the_canonical_form_is_minimal_json_with_sorted_keys(self, columns, key):
        text = canonical_json(RecordedDialogue(key=key, application="a", turns=(), columns=columns))

        assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class TestDraws:
    """A draw lies in [0, 1) and does not hang on what else is drawn."""

    @given(st.integers(), TEXTS, TEXTS)
    def test_draws_are_in_the_unit_interval(self, seed, purpose, key):
        draw = keyed_draw(seed, purpose, key)

        assert 0 <= draw < 1
        assert draw == keyed_draw(seed, purpose, key)
