"""Recorded human labels as trees: claims, sentences, responses, systems."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from tests.fakes.trees import design
from tests.golden.trees.rows import rows
from theodolite.domain.annotation import Outcome
from theodolite.domain.tree import Leaf
from theodolite.measurement.trees.methods import SummaryMethod, methods_with
from theodolite.measurement.trees.tree import MeasurementTree

FACTS = {
    "system": {"summary": "mean", "of": "facts"},
    "by fact": {"summary": "mean", "of": "facts", "weigh": "answer"},
    "by sentence": {"summary": "mean", "of": "responses"},
    "responses": {"per": "dialogue", "summary": "mean", "of": "sentences"},
    "sentences": {"per": "turn", "summary": "mean", "of": "facts"},
    "relevant only": {"summary": "mean", "of": "relevant", "weigh": "answer"},
    "facts": {"transform": "recode", "of": "labels", "values": {"S": 1, "NS": 0, "IR": 0}},
    "relevant": {"transform": "recode", "of": "labels", "values": {"S": 1, "NS": 0, "IR": None}},
    "labels": {"answers": "fact", "scale": ["S", "NS", "IR"]},
}


def fact(number: int, row: dict[str, str]) -> Leaf:
    session, turn = f"t{row['topic']}", int(row["sentence"]) if row["sentence"] else None
    if row["label"] in {"S", "NS", "IR"}:
        return Leaf(question="fact", session=session, turn=turn, replicate=number, value=row["label"])
    refused = Outcome.REFUSED if row["label"] == "abstained" else Outcome.NOT_APPLICABLE
    return Leaf(question="fact", session=session, turn=turn, replicate=number, outcome=refused)


@cache
def factscore(model: str) -> MeasurementTree:
    given = [fact(number, row) for number, row in enumerate(rows("factscore"), 1) if row["model"] == model]
    return MeasurementTree(design=design(FACTS), leaves=tuple(given))


def test_the_published_factscore_of_chatgpt():
    values = factscore("ChatGPT").evaluate()

    assert values["system"] == pytest.approx(0.5830, abs=5e-5)
    assert values["relevant only"] == pytest.approx(0.654, abs=5e-4)
    assert factscore("InstructGPT").evaluate()["system"] == pytest.approx(0.428, abs=5e-4)


def test_abstentions_are_in_the_disposition_and_not_in_the_score():
    finding = factscore("ChatGPT").bootstrap(replicates=200).node("system")

    assert (finding.n_dialogues, finding.outcomes.used) == (157, 5426)
    assert finding.outcomes.refused == 183 - 157
    assert finding.result.low < 0.5830 < finding.result.high


CLAIMS = {
    "contradicted claims": {"summary": "mean", "of": "contradicted"},
    "contradicted responses": {"summary": "mean", "of": "is contradicted"},
    "entailed responses": {"summary": "mean", "of": "is entailed"},
    "contradicted": {"transform": "recode", "of": "labels", "values": {
        "Entailment": 0, "Neutral": 0, "Contradiction": 1}},
    "degree": {"transform": "recode", "of": "labels", "orientation": "higher_is_worse", "values": {
        "Entailment": 0, "Neutral": 1, "Contradiction": 2}},
    "worst": {"per": "dialogue", "summary": "max", "of": "degree"},
    "is contradicted": {"transform": "recode", "of": "worst", "values": {"0": 0, "1": 0, "2": 1}},
    "is entailed": {"transform": "recode", "of": "worst", "values": {"0": 1, "1": 0, "2": 0}},
    "labels": {"answers": "claim", "scale": ["Entailment", "Neutral", "Contradiction"]},
}  # fmt: skip


@cache
def claims() -> dict[tuple[str, str], dict[str, list[str]]]:
    found: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows("refchecker"):
        found[row["setting"], row["model"]][row["response"]].append(row["label"])
    return found


def claim_leaves(responses: dict[str, list[str]]) -> tuple[Leaf, ...]:
    return tuple(
        Leaf(question="claim", session=response, replicate=number, outcome=Outcome.REFUSED)
        if label == "abstained"
        else Leaf(question="claim", session=response, replicate=number, value=label)
        for response, labels in responses.items()
        for number, label in enumerate(labels, 1)
    )


def test_all_published_responses_and_claims_are_included():
    labels = [label for responses in claims().values() for found in responses.values() for label in found]

    assert sum(len(responses) for responses in claims().values()) == 2_100
    assert len(labels) - labels.count("abstained") == 10_733


@pytest.mark.parametrize("system", sorted({key for key in claims()}), ids="/".join)  # noqa: C416 - keys of a cache
def test_the_published_rules_from_claim_to_response_to_system(system):
    answered = [found for found in claims()[system].values() if "abstained" not in found]
    shares = [found.count("Contradiction") / len(found) for found in answered]
    values = MeasurementTree(design=design(CLAIMS), leaves=claim_leaves(claims()[system])).evaluate()

    assert values["contradicted claims"] == pytest.approx(np.mean(shares))
    assert values["contradicted responses"] == pytest.approx(np.mean(["Contradiction" in found for found in answered]))
    assert values["entailed responses"] == pytest.approx(np.mean([set(found) == {"Entailment"} for found in answered]))


RUBRIC = {
    "rubric": {"summary": "mean", "of": [f"q{n}" for n in range(1, 9)], "beside": ["overall"]},
    "overall": {"summary": "mean", "of": "Q0"},
    "Q0": {"answers": "Q0", "scale": "1-4", "orientation": "lower_is_worse"},
    "error of the most likely": {"summary": "root mean square", "of": "most likely"},
    "error of the expected": {"summary": "root mean square", "of": "expected"},
    "most likely": {"answers": "most likely", "scale": "-3..3"},
    "expected": {"answers": "expected", "scale": "-3..3"},
    **{f"q{n}": {"summary": "mean", "of": f"Q{n}"} for n in range(1, 9)},
    **{f"Q{n}": {"answers": f"Q{n}", "scale": "1-4", "orientation": "lower_is_worse"} for n in range(1, 9)},
}
ROOT = SummaryMethod(
    name="root mean square",
    combine=lambda v, w: (sum(x * x * y for x, y in zip(v, w, strict=True)) / sum(w)) ** 0.5,
)


@cache
def rubric() -> MeasurementTree:
    given = []
    for row in rows("llm_rubric"):
        facts = {"session": f"d{row['dialogue']}", "by": row["annotator"], "kind": "person"}
        for question in ("Q0", *(f"Q{n}" for n in range(1, 9))):
            answer = {"outcome": Outcome.NOT_APPLICABLE} if row[question] == "0" else {"value": row[question]}
            given.append(Leaf(question=question, **facts, **answer))
        for name, column in (("most likely", "judge_argmax"), ("expected", "judge_expected")):
            given.append(Leaf(question=name, value=repr(float(row[column]) - float(row["Q0"])), **facts))
    return MeasurementTree(design=design(RUBRIC), leaves=tuple(given), methods=methods_with([ROOT]))


def test_the_published_errors_of_the_judge_follow_from_a_registered_summary():
    values = rubric().evaluate()

    assert values["error of the most likely"] == pytest.approx(1.201643, abs=5e-7)
    assert values["error of the expected"] == pytest.approx(0.918676, abs=5e-7)


def test_inapplicable_questions_give_conditional_means_with_their_own_number():
    finding = rubric().bootstrap(replicates=50)
    citations = finding.node("q2")

    assert citations.outcomes.planned == 223
    assert sum(finding.node(f"q{n}").conditional for n in range(1, 9)) >= 1
    assert all(f.outcomes.used + f.outcomes.not_applicable == 223 for f in (finding.node(f"q{n}") for n in range(1, 9)))
