"""Languages of a study: the one that it is written in, and those that it can be read in."""

from __future__ import annotations

from dataclasses import replace

from theodolite.config.lookup import Desk, Entry
from theodolite.config.shapes.study import StudyShape
from theodolite.config.shelves import TRANSLATIONS
from theodolite.domain.language import is_tag
from theodolite.domain.study import Study


def in_languages(study: Study, entry: Entry[StudyShape], desk: Desk) -> Study:
    """Return a study with the language that it is written in and those that it can be read in; faults go to the desk.

    Args:
        study: Everything else of it.
        entry: The study file.
        desk: Where it lies, and what takes the faults.
    """
    language = str(entry.shape.language)
    if not is_tag(language):
        message = f"`language` is `{language}`; expected a language tag, e.g. `en`, `de` or `pt-BR`"
        desk.complaints.add(entry.fault("language", message=message))
    spoken = replace(study, language=language)
    names = desk.own_names_in(TRANSLATIONS, ".yaml")
    if not names:
        return spoken
    from theodolite.config.translations import translations_of  # what most studies have none of

    return replace(spoken, translations=translations_of(spoken, names, desk))
