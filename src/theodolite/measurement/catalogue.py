"""The public functions of `theodolite.measurement`; `results.json` names them in `measure`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from theodolite.measurement.agreement import (
    classification_report,
    exact_agreement,
    majority_labels,
    relaxed_agreement,
    unanimity,
)
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.comparison import (
    adjust_p_values,
    cluster_permutation,
    mcnemar,
    newcombe_difference,
    newcombe_unpaired,
    non_inferiority,
    paired_difference,
    unpaired_difference,
)
from theodolite.measurement.control_charts import confidence_sequence, cusum, ewma, level_detector, rate_detector
from theodolite.measurement.correction import corrected_mean, corrected_rate, judge_accuracy, rogan_gladen_rate
from theodolite.measurement.kappa import brennan_prediger, cohen_kappa, conger_kappa, fleiss_kappa, gwet_ac
from theodolite.measurement.labels import confusion_matrix
from theodolite.measurement.monitoring import watch_history
from theodolite.measurement.order_profile import relevance_profile
from theodolite.measurement.ordinal import odds_by_threshold, ordinal_model
from theodolite.measurement.probes import human_ceiling, leak_rate, length_bias, order_shift, position_bias
from theodolite.measurement.proportion import defect_rate, pass_hat_k, pooled_defect_rate, zero_defect_bound
from theodolite.measurement.questionnaires import describe_answers, people_permutation
from theodolite.measurement.rank_tests import (
    brunner_munzel_test,
    dunn,
    friedman,
    kruskal_wallis,
    rank_sum_test,
    signed_rank_test,
    superiority,
)
from theodolite.measurement.ranking import ranking_agreement
from theodolite.measurement.rater_models import (
    cross_agreement,
    dawid_skene,
    defect_rates_by_group,
    group_agreement,
    mace,
)
from theodolite.measurement.sample_size import (
    detectable_difference,
    n_for_difference,
    n_for_flips,
    n_for_rate,
    n_for_zero_defects,
)
from theodolite.measurement.scores import correlation, score_agreement
from theodolite.measurement.sequences import (
    all_triples_entropy,
    inversion_count,
    longest_increasing_subsequence,
    permutation_entropy,
    rolling_entropy,
    rolling_inversions,
    rolling_subsequence,
)
from theodolite.measurement.stratified_correction import plan_labels
from theodolite.measurement.study.findings import measure_study
from theodolite.measurement.trees.tree import MeasurementTree
from theodolite.measurement.votes import (
    flip_rate,
    majority_share,
    retest_alpha,
    vote_share,
    votes_or_samples,
    voting_outcome,
)

__all__ = [
    "MeasurementTree",
    "adjust_p_values",
    "all_triples_entropy",
    "brennan_prediger",
    "brunner_munzel_test",
    "classification_report",
    "cluster_permutation",
    "cohen_kappa",
    "confidence_sequence",
    "confusion_matrix",
    "conger_kappa",
    "corrected_mean",
    "corrected_rate",
    "correlation",
    "cross_agreement",
    "cusum",
    "dawid_skene",
    "defect_rate",
    "defect_rates_by_group",
    "describe_answers",
    "detectable_difference",
    "dunn",
    "ewma",
    "exact_agreement",
    "fleiss_kappa",
    "flip_rate",
    "friedman",
    "group_agreement",
    "gwet_ac",
    "human_ceiling",
    "inversion_count",
    "judge_accuracy",
    "krippendorff_alpha",
    "kruskal_wallis",
    "leak_rate",
    "length_bias",
    "level_detector",
    "longest_increasing_subsequence",
    "mace",
    "majority_labels",
    "majority_share",
    "mcnemar",
    "measure_study",
    "n_for_difference",
    "n_for_flips",
    "n_for_rate",
    "n_for_zero_defects",
    "newcombe_difference",
    "newcombe_unpaired",
    "non_inferiority",
    "odds_by_threshold",
    "order_shift",
    "ordinal_model",
    "paired_difference",
    "pass_hat_k",
    "people_permutation",
    "permutation_entropy",
    "plan_labels",
    "pooled_defect_rate",
    "position_bias",
    "rank_sum_test",
    "ranking_agreement",
    "rate_detector",
    "relaxed_agreement",
    "relevance_profile",
    "retest_alpha",
    "rogan_gladen_rate",
    "rolling_entropy",
    "rolling_inversions",
    "rolling_subsequence",
    "score_agreement",
    "signed_rank_test",
    "superiority",
    "unanimity",
    "unpaired_difference",
    "vote_share",
    "votes_or_samples",
    "voting_outcome",
    "watch_history",
    "zero_defect_bound",
]

CATALOGUE: Mapping[str, Callable[..., object]] = MappingProxyType({name: globals()[name] for name in __all__})
"""Name to function."""
