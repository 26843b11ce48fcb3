from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import by_hand, guideline
from tests.fakes.builders import study as live_study
from tests.fakes.evidence import annotation_of, live_evidence
from theodolite.domain.annotating.label_sample import KeptLabels
from theodolite.reporting.terminal.labels import kept_text, labelled_text, plan_text, sample_text
from theodolite.usecases.labels import LabelRequest, draw_labels


def test_a_sample_states_its_source_and_the_next_step():
    drawn = draw_labels(live_evidence(), LabelRequest(n=20))

    text = sample_text(drawn.sample, n_slips=20, file="labels.csv", study="support")

    assert text.startswith("Wrote    labels.csv: 20 dialogues, 20 answers to give")
    assert "bot-1.4: no verdict 1 of 1" in " ".join(text.split())
    assert text.endswith("theodolite import labels support labels.csv")
    assert max(map(len, text.splitlines())) <= 80


def test_labels_read_and_labels_stored_are_distinguished():
    kept = KeptLabels(new=(), revised=(), unchanged=12)

    assert kept_text(kept, n_open=28, stored=True, study="s").startswith("Stored   labels of 0 dialogues: 0 new")
    assert "the same command without --check" in kept_text(kept, n_open=0, stored=False, study="s")


def kept_of(*people):
    anna = by_hand()
    study = live_study(annotators=(anna,), guidelines=(guideline(),))
    plain = annotation_of(study, anna, "d1", ())
    new = tuple(replace(plain, annotator=name, dialogue=dialogue) for name in people for dialogue in ("d1", "d2"))
    return KeptLabels(new=new, revised=(), unchanged=0)


def test_people_are_named_without_their_guideline_and_many_are_counted():
    few = kept_text(kept_of("h-polite", "i-polite"), n_open=0, stored=True, study="s")
    many = kept_text(kept_of(*(f"h{number}-polite" for number in range(30))), n_open=0, stored=True, study="s")

    assert "labels of 2 dialogues by h, i: 4 new" in few
    assert "labels of 2 dialogues by 30 people: 60 new" in many


def test_without_a_judge_the_next_step_is_to_measure():
    text = kept_text(kept_of("h"), n_open=0, stored=True, study="s", has_judge=False)

    assert text.endswith("theodolite measure s")
    assert labelled_text(n=1, n_open=0, study="s", by="me", has_judge=False).endswith("theodolite measure s")


def test_a_plan_states_what_is_unknown():
    widths = {"now": 1.0, "then": 0.157, "at_random": 0.16}

    text = plan_text({"bot: defect": 20, "bot: sound": 80}, widths, n_labelled=0, study="support", width=80)

    assert "100 further dialogues: bot: defect 20; bot: sound 80" in text
    assert "now unknown, then about 15.7 (drawn at random 16.0)" in " ".join(text.split())
    assert text.endswith("theodolite label support --sample 100")
