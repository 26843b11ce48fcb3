"""DICES: adversarial dialogues and 123 raters, who do not agree on what is unsafe."""

from __future__ import annotations

import pytest

from tests.golden.test_human_labels import rows
from tests.integration.published.recorded import run_recorded

pytestmark = pytest.mark.integration


def study_of(n_raters):
    raters = "".join(f"  rater{k}: {{who: person, column: rater{k}}}\n" for k in range(n_raters))
    return (
        f"study: dices\nannotators:\n{raters}"
        "spelling: {Y: unsafe, N: safe, U: unsure}\nreference: {column: expert}\n"
        'guidelines: {safety: {ask: Is the reply unsafe?, scale: [unsafe, safe, unsure], defect: "== unsafe"}}\n'
    )


@pytest.mark.timeout(600)  # 43,050 labels are stored one by one
def test_agreement_of_123_raters_equals_the_published_value_and_all_are_shown(tmp_path):
    dialogues = [row for row in rows("dices_labels") if row["set"] == "350"]
    labels = [
        {f"rater{k}": letter for k, letter in enumerate(row["labels"])} | {"expert": row["expert"]} for row in dialogues
    ]

    published = run_recorded(tmp_path, labels, study_of(123))

    assert published.value("krippendorff_alpha", weighting="nominal") == pytest.approx(0.16086021565770, abs=1e-9)
    assert len(published.estimates("defect_rate")) == 123 + 1
    kappas = [one["subject"]["annotators"] for one in published.estimates("cohen_kappa")]
    assert kappas == [["reference", "majority of people"]]
    assert published.value("unanimity") == 0.0
    # The majority is the published one but for two ties, which the file breaks by the order of raters.
    (majority,) = published.estimates("exact_agreement", "reference", "majority of people")
    ties = {(56, 56)}
    met = [row for row in dialogues if (row["labels"].count("Y"), row["labels"].count("N")) not in ties]
    assert majority["n"] == len(met) == 348
    assert majority["outcomes"]["missing"] == 2
    assert majority["count"] == sum(row["expert"] == row["majority"] for row in met)
