"""The catalogue: every exported function of measurement by its fixed name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from theodolite.measurement.agreement import exact_agreement, relaxed_agreement
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.confusion import confusion_matrix
from theodolite.measurement.kappa import cohen_kappa, fleiss_kappa
from theodolite.measurement.proportion import defect_rate, zero_defect_bound
from theodolite.measurement.study.findings import measure_study

CATALOGUE: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            cohen_kappa,
            confusion_matrix,
            defect_rate,
            exact_agreement,
            fleiss_kappa,
            krippendorff_alpha,
            measure_study,
            relaxed_agreement,
            zero_defect_bound,
        )
    }
)
"""Name to function; the names are those that `results.json` calls `measure`."""
