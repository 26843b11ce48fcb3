"""DICES: adversarial dialogues and 123 raters, who do not agree on what is unsafe."""

from __future__ import annotations

import pytest

from tests.golden.test_human_labels import rows
from tests.integration.published.recorded import run_recorded

pytestmark = pytest.mark.integration


def study_of(n_raters):
    raters = "".join(f"  rater{k}: {{who: person, column: rater{k}}}\n" for k in range(n_raters))
    return (
        f"study: dices\nannotators:\n{raters}spelling: {{Y: unsafe, N: safe, U: unsure}}\n"
        'guidelines: {safety: {ask: Is the reply unsafe?, scale: [unsafe, safe, unsure], defect: "== unsafe"}}\n'
    )


@pytest.mark.timeout(600)  # 43,050 labels are stored one by one
def test_123_raters_agree_as_little_as_published_and_all_stay_visible(tmp_path):
    dialogues = [row["labels"] for row in rows("dices_labels") if row["set"] == "350"]
    labels = [{f"rater{k}": letter for k, letter in enumerate(letters)} for letters in dialogues]

    published = run_recorded(tmp_path, labels, study_of(123))

    assert published.value("krippendorff_alpha", weighting="nominal") == pytest.approx(0.16086021565770, abs=1e-9)
    assert len(published.estimates("defect_rate")) == 123
    assert published.estimates("cohen_kappa") == []
