from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.builders import by_hand, guideline, judge, word_rule
from tests.fakes.evidence import annotation_of, changed, live_evidence, xstest_evidence
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.errors import InputError
from theodolite.usecases.labels import LabelRequest, draw_labels, guideline_for, judge_for

LIVE = live_evidence()


def drawn(n=20, evidence=LIVE, **request):
    return draw_labels(evidence, LabelRequest(n=n, **request))


def labelled(evidence, keys):
    anna = by_hand("anna", "groundedness")
    study = replace(evidence.study, annotators=(*evidence.study.annotators, anna))
    answer = Answer(question="score", outcome=Outcome.ANSWERED, value="2")
    labels = tuple(annotation_of(study, anna, key, (answer,)) for key in sorted(keys))
    return changed(evidence, study=study, annotations=(*evidence.archive.annotations(), *labels))


def test_every_verdict_is_sampled_with_a_known_probability():
    sample = drawn().sample

    assert [(one.name, one.n_dialogues) for one in sample.strata] == [
        ("bot-1.4: defect", 9),
        ("bot-1.4: no verdict", 1),
        ("bot-1.4: sound", 48),
    ]
    assert sum(one.n_drawn for one in sample.strata) == len(sample.dialogues) == 20
    assert sum(1 / one.inclusion for one in sample.dialogues) == pytest.approx(58)


def test_the_same_request_draws_the_same_and_a_larger_one_continues():
    keys = [one.dialogue for one in drawn(20).sample.dialogues]

    assert keys == [one.dialogue for one in drawn(20).sample.dialogues]
    assert set(keys) <= {one.dialogue for one in drawn(30).sample.dialogues}
    assert set(keys) != {one.dialogue for one in drawn(20, seed=2).sample.dialogues}


def test_the_file_contains_the_drawn_dialogues_and_no_verdict():
    found = drawn(20)

    assert len({slip.item for slip in found.slips}) == 20
    assert not any("defect" in slip.item + slip.material + slip.dialogue for slip in found.slips)


def test_dialogues_labelled_by_a_person_are_not_drawn_again():
    first = {one.dialogue for one in drawn(20).sample.dialogues}

    further = {one.dialogue for one in drawn(20, labelled(LIVE, first)).sample.dialogues}

    assert (len(further), first & further) == (20, set())


def test_a_larger_request_draws_all_dialogues_and_then_none():
    everything = {one.dialogue for one in drawn(500).sample.dialogues}

    with pytest.raises(InputError, match="nothing is left to draw"):
        drawn(1, labelled(LIVE, everything))

    assert len(everything) == 58


def test_withheld_texts_cannot_be_labelled_and_are_counted():
    sample = drawn(50, xstest_evidence()).sample

    assert sample.withheld == 1000
    assert sum(one.n_dialogues for one in sample.strata) == 1250


def test_a_guideline_is_required_if_there_are_several():
    study = replace(LIVE.study, guidelines=(guideline(name="polite"), guideline(name="safe")), annotators=())

    with pytest.raises(InputError, match="name one with --guideline: `polite`, `safe`"):
        guideline_for(study, "")
    with pytest.raises(InputError, match=r"has no guideline `polit`; known: .*\. Did you mean `polite`\?"):
        guideline_for(study, "polit")

    assert guideline_for(study, "safe").name == "safe"


def test_strata_come_from_the_first_model_unless_another_judge_is_named():
    study = replace(LIVE.study, guidelines=(guideline(),), annotators=(word_rule(), judge(), by_hand()))

    assert judge_for(study, guideline(), "").name == "grounded"
    assert judge_for(study, guideline(), "words").name == "words"
    assert judge_for(replace(study, annotators=()), guideline(), "") is None
    with pytest.raises(InputError, match="no judge `anna` labels by guideline `polite`"):
        judge_for(study, guideline(), "anna")
