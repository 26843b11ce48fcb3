from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.codings import BOOK, CODINGS, CONSENSUS, VERSION, WORK, about, coded_evidence, coding, noted, wrote
from tests.fakes.responses import STUDY, evidence
from theodolite.domain.codings.coded import CodedState, CodingWork, books_by_version
from theodolite.domain.codings.coding import Coding, OpenAnswer
from theodolite.domain.codings.finding import ThemeQuote
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Undefined
from theodolite.domain.tried import TRIED, tried_in
from theodolite.measurement.study.codings import coding_findings


def themes(work=WORK, **facts):
    (found,) = coding_findings(coded_evidence(work, **facts))
    return {one.code: one for one in found.themes}


def test_every_answer_is_accounted_for():
    (found,) = coding_findings(coded_evidence())

    assert found.states == {CodedState.ALIKE: 3, CodedState.DISPUTED: 1, CodedState.ONCE: 1}
    assert (found.question, found.n, found.n_coders, found.codebook, found.revision) == ("open", 5, 2, VERSION, 1)


def test_what_coders_differ_on_is_in_no_share_and_in_the_bounds():
    vague, cold = themes()["vague"], themes()["cold"]

    assert (vague.n, vague.n_undecided, vague.n_uncoded) == (3, 1, 1)
    assert (vague.share.count, vague.share.n, vague.share.unit) == (1, 3, "fraction of answers")
    assert vague.bounds == (1 / 5, 3 / 5)
    assert (cold.n, cold.n_undecided, cold.share.count) == (4, 0, 2)


def test_a_consensus_counts_for_all_codes_of_an_answer():
    found = themes(replace(WORK, resolutions=(CONSENSUS,)))

    assert (found["vague"].n, found["vague"].n_undecided, found["vague"].share.count) == (4, 0, 1)


def test_no_consensus_leaves_the_disputed_code_undecided():
    found = themes(replace(WORK, resolutions=(replace(CONSENSUS, codes=None),)))

    assert found["vague"].n_undecided == 1


def test_agreement_is_told_for_whole_sets_and_for_each_code():
    (found,) = coding_findings(coded_evidence(replace(WORK, resolutions=(CONSENSUS,))))
    vague, cold = found.codes

    assert (found.alike.count, found.alike.n, found.alpha.n) == (3, 4, 4)
    assert (vague.n_given, vague.alike.count, cold.alike.count, cold.alpha.value) == (3, 3, 4, 1.0)


def test_agreement_is_undefined_before_two_have_coded():
    (found,) = coding_findings(coded_evidence(replace(WORK, codings=CODINGS[-1:])))

    assert isinstance(found.alpha, Undefined)
    assert isinstance(found.codes[0].alpha, Undefined)


def test_groups_of_few_people_are_withheld():
    groups = {person: {"age": "old" if person in "pq" else "young"} for person in "pqrst"}
    told = evidence(*(wrote(person, groups=groups[person]) for person in "pqrst"))
    (found,) = coding_findings(replace(told, coding=WORK))
    old = [one for one in found.themes if one.group == ("age", "old")]

    assert [(one.share, one.bounds, one.n) for one in old] == [(None, None, 2)] * 2


def test_released_answers_are_quoted_with_codes_and_without_persons():
    (found,) = coding_findings(coded_evidence())

    assert found.quotes == (ThemeQuote(text="Rude!", codes=("cold",), application="blue", level=Level.FIELD_TESTING),)


@pytest.mark.parametrize("work", [None, CodingWork()], ids=["not begun", "no codebook"])
def test_nothing_is_told_before_there_is_a_codebook(work):
    assert list(coding_findings(coded_evidence(work))) == []


def test_answers_to_another_version_and_drafts_are_left_out():
    told = evidence(wrote("p"), wrote("q", version="0" * 64), wrote("r", submitted=False))
    (found,) = coding_findings(replace(told, coding=replace(WORK, codebooks={VERSION: BOOK})))

    assert found.n == 1


def test_each_question_goes_by_the_codebook_that_is_for_it():
    own = replace(BOOK, name="tone", covers=("after.open",), codes=BOOK.codes[1:])
    work = replace(WORK, codebooks=books_by_version([BOOK, own]))
    (found,) = coding_findings(coded_evidence(work))

    assert (found.name, found.revision, [one.code for one in found.codes]) == ("tone", 1, ["cold"])


def test_what_red_teamers_noted_is_a_question_of_its_own():
    notes = tuple(tried_in([noted(STUDY), noted(STUDY, person="q")]))
    answers = [OpenAnswer(session=one.session, questionnaire=TRIED.name, question="tried") for one in notes]
    codings = [
        Coding(answer=answer, coder=coder, codes=("vague",), codebook=VERSION)
        for answer in answers
        for coder in ("c1", "c2")
    ]
    (found,) = coding_findings(replace(evidence(), notes=notes, coding=replace(WORK, codings=codings)))

    assert (found.questionnaire, found.question, found.n) == ("notes while testing", "tried", 2)
    assert [(one.level, one.application) for one in found.themes if one.code == "vague"] == [
        (Level.RED_TEAMING, "blue")
    ]


def test_coders_are_compared_two_by_two():
    more = (coding("t", "c3", "vague"), coding("q", "c3", "vague"))
    codings = (*(one for one in CODINGS if (one.answer, one.coder) != (about("q"), "c2")), *more)
    (found,) = coding_findings(coded_evidence(replace(WORK, codings=codings)))

    assert [(one.first, one.second, one.n, one.alike.count) for one in found.pairs] == [
        ("c1", "c2", 3, 2),
        ("c1", "c3", 2, 1),
    ]
    assert [one.alike.count for one in found.pairs[1].codes] == [1, 1]
    assert found.coders == {"c1": "coder 1", "c2": "coder 2", "c3": "coder 3"}
