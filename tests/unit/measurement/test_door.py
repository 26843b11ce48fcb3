"""The package's door: fixed names, opened only on demand."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys

import pytest

import theodolite.measurement as door
from theodolite.measurement.catalogue import CATALOGUE

SIGNATURES = {
    "defect_rate": ["defects", "labelled", "method", "confidence", "clusters"],
    "zero_defect_bound": ["labelled", "confidence", "clusters"],
    "confusion_matrix": ["a", "b", "categories"],
    "exact_agreement": ["a", "b", "clusters", "confidence"],
    "relaxed_agreement": ["a", "b", "within", "categories", "clusters", "confidence"],
    "classification_report": ["reference", "given", "categories", "clusters", "confidence"],
    "unanimity": ["ratings", "clusters", "confidence"],
    "majority_labels": ["ratings"],
    "cohen_kappa": ["a", "b", "categories", "weights", "clusters", "confidence"],
    "fleiss_kappa": ["counts", "weights", "clusters", "confidence"],
    "krippendorff_alpha": ["ratings", "scale", "clusters", "replicates", "seed", "confidence"],
    "measure_study": ["evidence", "role_break_rules", "summaries", "measures"],
    "permutation_entropy": ["scores", "order", "delay", "ties", "normalize"],
    "all_triples_entropy": ["scores", "normalize"],
    "inversion_count": ["scores"],
    "longest_increasing_subsequence": ["scores", "strict"],
    "relevance_profile": ["scores", "order", "delay", "defect_at_most", "seed"],
    "ranking_agreement": ["human", "judge", "clusters", "confidence", "n_points", "seed"],
    "brennan_prediger": ["ratings", "categories", "weights", "clusters", "confidence"],
    "conger_kappa": ["ratings", "categories", "weights", "clusters", "confidence"],
    "gwet_ac": ["ratings", "categories", "weights", "clusters", "confidence"],
    "corrected_rate": ["verdicts", "labels", "clusters", "confidence"],
    "judge_accuracy": ["verdicts", "labels", "drawn_from", "clusters", "confidence"],
    "corrected_mean": ["scores", "labels", "drawn_from", "clusters", "scale", "confidence"],
    "rogan_gladen_rate": ["positives", "judged", "sensitivity", "specificity", "clusters", "confidence"],
    "plan_labels": ["verdicts", "labels", "budget", "seed", "confidence"],
    "flip_rate": ["votes", "clusters", "confidence"],
    "unpaired_difference": ["a", "b"],
    "vote_share": ["votes", "label", "clusters", "confidence"],
    "majority_share": ["votes", "label", "clusters", "confidence"],
    "retest_alpha": ["votes", "categories", "scale", "clusters", "confidence"],
    "votes_or_samples": ["votes", "label", "cost_of_dialogue"],
    "voting_outcome": ["share", "most", "lead", "curtailed"],
    "pass_hat_k": ["outcomes", "k", "clusters", "confidence"],
    "score_agreement": ["scores", "labels", "clusters", "scale", "confidence"],
    "correlation": ["a", "b", "method", "clusters", "confidence"],
    "position_bias": ["one_way", "other_way", "clusters", "confidence"],
    "length_bias": ["scores", "labels", "lengths", "clusters", "confidence"],
    "human_ceiling": ["judge", "people", "clusters", "confidence"],
    "paired_difference": ["a", "b", "clusters", "scale", "confidence"],
    "newcombe_difference": ["both", "only_a", "only_b", "neither", "confidence"],
    "newcombe_unpaired": ["count_a", "n_a", "count_b", "n_b", "confidence"],
    "non_inferiority": ["difference", "margin", "better"],
    "mcnemar": ["only_a", "only_b", "method"],
    "cluster_permutation": ["a", "b", "clusters", "draws", "seed"],
    "adjust_p_values": ["p_values", "method"],
    "n_for_difference": ["difference", "variance", "confidence", "power", "cluster_size", "correlation"],
    "detectable_difference": ["n", "variance", "confidence", "power"],
    "n_for_flips": ["only_a", "only_b", "confidence", "power"],
    "n_for_rate": ["rate", "half_width", "confidence"],
    "n_for_zero_defects": ["highest", "confidence", "cluster_size"],
    "describe_answers": ["answers", "categories", "clusters", "confidence", "top"],
    "people_permutation": ["answers", "sides", "people", "draws", "seed"],
    "rank_sum_test": ["a", "b"],
    "signed_rank_test": ["a", "b"],
    "superiority": ["a", "b", "confidence"],
    "brunner_munzel_test": ["a", "b"],
    "kruskal_wallis": ["groups"],
    "dunn": ["groups", "adjustment"],
    "friedman": ["rows"],
    "ordinal_model": ["answers", "factors", "categories", "people", "confidence"],
    "odds_by_threshold": ["answers", "factors", "categories", "confidence"],
    "group_agreement": ["ratings", "groups", "categories", "fewest", "draws", "seed", "confidence", "clusters"],
    "cross_agreement": ["ours", "theirs", "categories", "clusters", "confidence"],
    "defect_rates_by_group": ["ratings", "groups", "fewest", "draws", "seed", "confidence"],
    "dawid_skene": ["labels", "categories", "smoothing", "most_rounds"],
    "mace": ["labels", "categories", "smoothing", "most_rounds"],
}


def test_importing_the_package_loads_no_array_library():
    command = "import sys, theodolite.measurement; print([n for n in ('numpy', 'scipy') if n in sys.modules])"

    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_measuring_never_loads_the_slow_part_of_scipy():
    command = "import sys; from theodolite.measurement import defect_rate; print('scipy.stats' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_the_package_exports_the_catalogue_of_measures():
    assert set(door.__all__) == set(CATALOGUE)


def test_no_module_shadows_a_function_of_its_name():
    files = {module.name for module in pkgutil.iter_modules(door.__path__)}

    assert not files & set(door.__all__)


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_signatures_are_fixed(name):
    assert list(inspect.signature(getattr(door, name)).parameters) == SIGNATURES[name]


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_every_measure_documents_itself(name):
    explanation = inspect.getdoc(getattr(door, name))

    assert all(part in explanation for part in ("Args:", "Returns:", "Example:", "Source:"))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute `accuracy`"):
        _ = door.accuracy
