"""Measurement: pure functions from labels to estimates.

This door opens its rooms only when somebody enters: numpy and scipy are loaded
with the first function that is asked for, not with the package.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theodolite.measurement.agreement import exact_agreement, relaxed_agreement
    from theodolite.measurement.alpha import krippendorff_alpha
    from theodolite.measurement.confusion import confusion_matrix
    from theodolite.measurement.kappa import cohen_kappa, fleiss_kappa
    from theodolite.measurement.proportion import defect_rate, zero_defect_bound
    from theodolite.measurement.study.findings import measure_study
else:

    def __getattr__(name: str) -> object:
        """Return an exported function, loading the arrays' libraries now."""
        if name not in __all__:
            message = f"module `theodolite.measurement` has no attribute `{name}`"
            raise AttributeError(message)
        from theodolite.measurement.catalogue import CATALOGUE

        return CATALOGUE[name]


__all__ = [
    "cohen_kappa",
    "confusion_matrix",
    "defect_rate",
    "exact_agreement",
    "fleiss_kappa",
    "krippendorff_alpha",
    "measure_study",
    "relaxed_agreement",
    "zero_defect_bound",
]
