"""Theodolite: measures the risks of GenAI applications.

From Python: `theodolite.load_study(path)` reads a study or says everything that
is wrong with it; `theodolite.run(path)` does what the command of that name does;
`theodolite.measurement` holds the pure functions behind every number.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theodolite.bootstrap.api import StudyRun, run
    from theodolite.config.loading import LoadedStudy, load_study
else:

    def __getattr__(name: str) -> object:
        """Return an exported name, loading what is behind it now."""
        if name in {"run", "StudyRun"}:
            from theodolite.bootstrap import api

            return getattr(api, name)
        if name in {"load_study", "LoadedStudy"}:
            from theodolite.config import loading

            return getattr(loading, name)
        message = f"module `theodolite` has no attribute `{name}`"
        raise AttributeError(message)


__all__ = ["LoadedStudy", "StudyRun", "load_study", "run"]
