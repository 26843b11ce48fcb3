"""Statistics: pure functions from labels to estimates.

The functions are those of `theodolite.measurement.catalogue`. That module, with numpy and scipy,
is loaded when the first function is used, because most commands need no statistics.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theodolite.measurement import catalogue
    from theodolite.measurement.catalogue import *  # noqa: F403  # type checkers see every function

    __all__: list[str] = []
    __all__ += catalogue.__all__
else:

    def __getattr__(name: str) -> object:
        """Return a public function, or `__all__`, from the catalogue."""
        if name == "__all__" or not name.startswith("__"):
            from theodolite.measurement.catalogue import CATALOGUE

            if name == "__all__":
                return list(CATALOGUE)
            if name in CATALOGUE:
                return CATALOGUE[name]
        message = f"module `theodolite.measurement` has no attribute `{name}`"
        raise AttributeError(message)
