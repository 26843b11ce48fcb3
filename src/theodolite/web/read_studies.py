"""Studies as people read them, put into each language once."""

from __future__ import annotations

from theodolite.domain.study import Study
from theodolite.domain.wording import LocalisedStudy, localised

_MOST = 32

_read: dict[tuple[int, str], tuple[Study, LocalisedStudy]] = {}
"""By the study's place in memory, since it is long to compare; it is kept here, so that the place stays its own."""


def read_study(study: Study, language: str) -> LocalisedStudy:
    """Return a study as it reads in a language, the same one for as long as the study is open."""
    at = (id(study), language)
    if at not in _read:
        if len(_read) >= _MOST:
            _read.clear()
        _read[at] = (study, localised(study, language))
    return _read[at][1]
