"""Recipes judged by a crowd: six questions, numbers of raters that differ from text to text."""

from __future__ import annotations

import pytest

from tests.golden.test_human_labels import rows
from tests.integration.published.recorded import run_recorded

pytestmark = pytest.mark.integration

ALPHAS = {
    "grammar": 0.415127,
    "fluency": 0.432398,
    "verbosity": 0.399142,
    "structure": 0.398558,
    "success": 0.362716,
    "overall": 0.435101,
}


def study_of(question, n_raters):
    raters = "".join(f"  rater{k}: {{who: person, column: rater{k}}}\n" for k in range(n_raters))
    asked = '{ask: How good is it?, scale: 1-6, orientation: lower_is_worse, defect: "<= 2"}'
    return f"study: recipes-{question}\nannotators:\n{raters}guidelines:\n  {question}: {asked}\n"


@pytest.mark.parametrize("question", ALPHAS)
def test_agreement_of_the_crowd_equals_the_published_value(tmp_path, question):
    texts = [row["scores"] for row in rows("recipe_scores") if row["question"] == question]
    most = max(map(len, texts))
    labels = [{f"rater{k}": scores[k] if k < len(scores) else "" for k in range(most)} for scores in texts]

    published = run_recorded(tmp_path, labels, study_of(question, most))

    assert published.value("krippendorff_alpha", weighting="ordinal") == pytest.approx(ALPHAS[question], abs=5e-7)
    assert published.estimates("exact_agreement") == []
