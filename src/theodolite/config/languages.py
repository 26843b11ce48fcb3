"""Languages of a study: the one that it is written in, and those that it can be read in."""

from __future__ import annotations

from dataclasses import replace

from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.resources import TRANSLATIONS
from theodolite.config.specs.study import StudySpec
from theodolite.domain.language import is_tag
from theodolite.domain.study import Study


def in_languages(study: Study, entry: Entry[StudySpec], context: LoadContext) -> Study:
    """Return a study with its own language and those of its translations; faults are added to the diagnostics.

    Args:
        study: Everything else of it.
        entry: The study file.
        context: Context of the load; collects the diagnostics.
    """
    language = str(entry.spec.language)
    if not is_tag(language):
        message = f"`language` is `{language}`; expected a language tag, e.g. `en`, `de` or `pt-BR`"
        context.diagnostics.add(entry.fault("language", message=message))
    spoken = replace(study, language=language)
    names = context.own_names_in(TRANSLATIONS, ".yaml")
    if not names:
        return spoken
    from theodolite.config.translations import translations_of  # what most studies have none of

    return replace(spoken, translations=translations_of(spoken, names, context))
