"""Order effects of a study: people by what their sittings showed, judges by their readings."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.evidence import changed
from tests.fakes.labelled import labelled_evidence
from tests.unit.measurement.study.test_judge_diagnostics import cast, judged, mark
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.order_effect import OrderFactor
from theodolite.domain.shown_order import ShownOrder
from theodolite.measurement.study.orders import order_findings


def sat() -> Evidence:
    """Return evidence of two people of whom every second sitting asked in reverse."""
    evidence = labelled_evidence(lambda said: said or "1", people=("anna", "ben"))
    kept, number = [], dict.fromkeys(("anna", "ben"), 0)
    for one in evidence.archive.annotations():
        if one.annotator in number:
            number[one.annotator] += 1
            order = ShownOrder(options=number[one.annotator] % 2 == 0, dialogues=False)
            one = replace(one, shown=order, sitting=number[one.annotator])  # noqa: PLW2901  # the same, sat
        kept.append(one)
    return changed(evidence, annotations=tuple(kept))


def test_people_are_told_together_by_what_their_sittings_showed() -> None:
    found = {one.factor: one for one in order_findings(sat()) if not one.annotator}
    assert set(found) == {OrderFactor.QUEUE, OrderFactor.PREVIOUS}
    assert found[OrderFactor.QUEUE].n_annotators == 2
    assert found[OrderFactor.QUEUE].first.n + found[OrderFactor.QUEUE].second.n == 60
    assert found[OrderFactor.PREVIOUS].n_between == 2


def test_labels_from_files_say_nothing_of_order() -> None:
    assert list(order_findings(labelled_evidence(lambda said: said or "1"))) == []


def test_a_judge_that_reads_twice_is_told_by_the_order_of_labels() -> None:
    study = judged(("d1", "d2", "d3"))
    for place, values in enumerate([("yes", "no"), ("yes", "no"), ("no", "no")]):
        mark(study, place, votes=cast(*values))
    (effect,) = order_findings(study.evidence())
    assert (effect.annotator, effect.factor) == ("judge", OrderFactor.OPTIONS)
    assert dict(effect.first.given) == {"yes": 2, "no": 1}
    assert dict(effect.second.given) == {"yes": 0, "no": 3}
    assert (effect.n_annotators, effect.n_dialogues) == (1, 3)
