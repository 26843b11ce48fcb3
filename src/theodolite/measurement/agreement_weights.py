"""Agreement weights: how far two points of a scale count as agreement."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError

Floats = NDArray[np.float64]
Weights = Literal["identity", "linear", "quadratic", "ordinal", "band"]

KNOWN: Final = ("identity", "linear", "quadratic", "ordinal", "band")


def agreement_weights(n_categories: int, weights: str) -> Floats:
    """Return how much each pair of categories counts as agreement, shape (categories, categories).

    1 on the diagonal. `identity` gives nothing for any disagreement, `linear`
    and `quadratic` take its distance on the scale, `ordinal` the number of pairs
    of points within the distance, `band` gives neighbours full agreement.

    Args:
        n_categories: Points of the scale; at least 2.
        weights: One of the five.

    Raises:
        InputError: If the weights are unknown.

    Source:
        Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 3.
    """
    places = np.arange(n_categories, dtype=np.float64)
    steps = np.abs(places[:, None] - places[None, :])
    match weights:
        case "identity":
            return np.eye(n_categories)
        case "linear":
            return 1.0 - steps / (n_categories - 1)
        case "quadratic":
            return 1.0 - (steps / (n_categories - 1)) ** 2
        case "ordinal":
            return 1.0 - steps * (steps + 1.0) / (n_categories * (n_categories - 1))
        case "band":
            return (steps <= 1.0).astype(np.float64)
    message = f"`weights` must be one of {', '.join(KNOWN)}; got {weights!r}"
    raise InputError(message)
