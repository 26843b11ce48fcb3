"""Theodolite: measures the risks of GenAI applications.

`theodolite.run(study)` works like the command of that name, for a path or for a study of dicts, functions
and rows; `theodolite.measurement` contains the pure functions behind every number.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theodolite.bootstrap.api import StudyRun, run, run_async
    from theodolite.bootstrap.python_study import judge, model, rule
    from theodolite.config.loading import LoadedStudy, load_study
    from theodolite.domain.errors import StudyError
else:
    _HOMES = {
        "bootstrap.api": ("StudyRun", "run", "run_async"),
        "bootstrap.python_study": ("judge", "model", "rule"),
        "config.loading": ("LoadedStudy", "load_study"),
        "domain.errors": ("StudyError",),
    }

    def __getattr__(name: str) -> object:
        """Return an exported name, loading its module now."""
        from importlib import import_module

        for home, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"theodolite.{home}"), name)
        message = f"module `theodolite` has no attribute `{name}`"
        raise AttributeError(message)

    def __dir__() -> list[str]:
        return [*globals(), *__all__]


__all__ = ["LoadedStudy", "StudyError", "StudyRun", "judge", "load_study", "model", "rule", "run", "run_async"]
