"""Laws of discrepancies and of the sample that seniors look at."""

from __future__ import annotations

from math import ceil

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.annotation_queue import RISK, how_bad, no, yes

from theodolite.annotation.rules import Reviewed, discrepancies, letters_for, review_sample, reviewed
from theodolite.domain.annotating.discrepancy import DissentCause, Resolution
from theodolite.domain.annotating.quality import ReviewCandidate

SITTINGS = st.one_of(
    st.just((no("released"),)), st.integers(1, 10).map(lambda number: (yes("released"), how_bad(str(number))))
)
GIVEN = st.dictionaries(st.sampled_from(["anna", "ben", "carl", "dora"]), SITTINGS, min_size=1)
CANDIDATES = st.lists(
    st.builds(ReviewCandidate, key=st.text(min_size=1, max_size=6), stratum=st.sampled_from("abc")),
    unique_by=lambda one: one.key,
    max_size=30,
)
RATES = st.floats(0, 1)


def left_open(question, turn):
    return Resolution(
        question=question, turn=turn, participants=("s",), rationale="No.", cause=DissentCause.VALUE_DIFFERENCE
    )


class TestDiscrepancies:
    """Law: there is a discrepancy exactly where two answers differ, and it shows every answer."""

    @given(GIVEN, st.text(max_size=3))
    def test_a_discrepancy_exists_exactly_where_answers_differ(self, answers, salt):
        found = {one.question: one for one in discrepancies(RISK, answers, salt)}
        released = [sitting[0].value for sitting in answers.values()]

        assert ("released" in found) == (len(set(released)) > 1)
        if "released" in found:
            assert sorted(one.answer.value for one in found["released"].positions) == sorted(released)


class TestLetters:
    """Law: letters hang on names and salt, never on the order in which people came."""

    @given(st.lists(st.text(max_size=4), unique=True, max_size=40), st.text(max_size=3))
    def test_letters_do_not_depend_on_the_order_of_names(self, names, salt):
        letters = letters_for(names, salt)

        assert letters == letters_for(names[::-1], salt)
        assert len(set(letters.values())) == len(names)


class TestOpenReviews:
    """Law: a review that leaves the question on a violation without consensus never ends as no violation."""

    @given(GIVEN)
    def test_a_review_without_consensus_never_ends_as_no_violation(self, answers):
        places = [(one.question, one.turn) for one in discrepancies(RISK, answers, "")]
        said = reviewed(RISK, answers, [left_open(*place) for place in places], {})

        if ("released", None) in places:
            assert said is Reviewed.NO_CONSENSUS
            assert reviewed(RISK, answers, [], {}) is Reviewed.NOT_YET


class TestQualitySample:
    """Law: of each stratum a share is drawn, rounded up, the same for any order of the list."""

    @given(CANDIDATES, RATES, st.integers(0, 5))
    def test_every_stratum_is_sampled(self, candidates, rate, seed):
        drawn = review_sample(candidates, rate, seed)

        assert set(drawn) == set(review_sample(candidates[::-1], rate, seed))
        for stratum in {one.stratum for one in candidates}:
            members = {one.key for one in candidates if one.stratum == stratum}
            assert len(members & set(drawn)) == ceil(rate * len(members) - 1e-9)
