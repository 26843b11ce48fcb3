"""Translations of a study or a pack: the displayed texts, under the same names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from theodolite.config.events import NEEDED, unfinished
from theodolite.config.load_context import TRANSLATIONS, Entry, LoadContext
from theodolite.config.scenarios import LevelName
from theodolite.config.validation import Filled, Spec, Word, validated
from theodolite.config.yaml_source import LocatedDiagnostic, Path, read_yaml
from theodolite.domain.errors import Severity, did_you_mean
from theodolite.domain.study import Study
from theodolite.domain.study_parts import Translation
from theodolite.domain.text import is_tag
from theodolite.domain.wording import CONSENT, WARNING, Key, missing, texts_of, written


class ExemplarTranslationSpec(Spec):
    """One example of an answer, in another language."""

    text: str = ""
    """The text."""
    reason: str = ""
    """Reason for the answer."""


class QuestionTranslationSpec(Spec):
    """One question, in another language."""

    ask: str = ""
    """The question, as people read it."""
    labels: dict[str, Word] = Field(default_factory=dict)
    """Translated labels; the stored value is the original label."""
    meanings: dict[str, Filled] = Field(default_factory=dict)
    """Meanings of labels or points of the scale; ends of a number scale are points."""
    exemplars: list[ExemplarTranslationSpec] = Field(default_factory=list)
    """The examples of answers, in order."""


class QuestionnaireTranslationSpec(Spec):
    """A questionnaire, in another language."""

    title: str = ""
    """Heading for testers."""
    about: str = ""
    """One or two sentences above the questions."""
    questions: dict[str, QuestionTranslationSpec] = Field(default_factory=dict)
    """Questions by name."""


class CategoryTranslationSpec(Spec):
    """A category of an annotation schema, in another language."""

    title: str = ""
    """Heading for people."""
    definition: str = ""
    """Definition of the property, as annotators read it."""
    questions: dict[str, QuestionTranslationSpec] = Field(default_factory=dict)
    """Questions by name."""


class ScenarioTranslationSpec(Spec):
    """Testers' texts of a scenario, in another language."""

    goal: str = ""
    """The goal, shown to testers if there are no instructions."""
    instructions: dict[LevelName, Filled] = Field(default_factory=dict)
    """Instructions for testers, by level."""


class TopicTranslationSpec(Spec):
    """A sensitive topic, in another language."""

    title: str = ""
    """Name; default: its key."""
    about: str = ""
    """Description of the content."""


class PackTranslationSpec(Spec):
    """Displayed texts of a scenario pack in another language: `translations/<language>.yaml` beside `pack.yaml`."""

    warning: str = ""
    """Unpleasant content that people may see."""
    topics: dict[str, TopicTranslationSpec] = Field(default_factory=dict)
    """Sensitive topics by name; shown together with the warning."""
    scenarios: dict[str, ScenarioTranslationSpec] = Field(default_factory=dict)
    """Scenarios by name."""
    questionnaires: dict[str, QuestionnaireTranslationSpec] = Field(default_factory=dict)
    """Questionnaires by name."""
    categories: dict[str, CategoryTranslationSpec] = Field(default_factory=dict)
    """Categories of annotation schemas by name."""
    phrases: dict[str, Filled] = Field(default_factory=dict)
    """Translations of repeated texts, unless translated above, e.g. `strongly agree`."""


class TranslationSpec(PackTranslationSpec):
    """Displayed texts of a study in another language: `translations/<language>.yaml` beside the study file."""

    title: str = ""
    """Heading of the study for people."""
    consent: str = ""
    """File with the consent text."""
    warning: str = ""
    """File with the content warning."""
    screening: list[Filled] = Field(default_factory=list)
    """The screening questions, in order."""


_SHOWN = 8
"""Maximum number of missing texts named per part; further ones are counted."""


def translations_of(study: Study, names: Sequence[str], context: LoadContext) -> tuple[Translation, ...]:
    """Return the content of the files in `translations/`; errors and gaps are added to the diagnostics.

    A study is offered in the languages of its files. A pack's text in such a
    language is used unless the file translates it differently.

    Args:
        study: The study without translations, including its original language.
        names: Names of the files.
        context: Context of the load; collects the diagnostics.
    """
    parts = texts_of(study)
    known = {key: text for texts in parts.values() for key, text in texts.items()}
    read = (_read(name, study, known, context) for name in names)
    result = tuple(translation for translation in read if translation is not None)
    for translation in result:
        _note_missing(study, parts, translation, context)
    return result


def _read(name: str, study: Study, known: Mapping[Key, str], context: LoadContext) -> Translation | None:
    file = f"{TRANSLATIONS}/{name}.yaml"
    if not is_tag(name) or name.lower() == study.language.lower():
        message = (
            f"`{name}` is the study's own language (`language`); its texts stand in the study itself"
            if is_tag(name)
            else f"`{name}` is not a language tag; call the file after the language, e.g. `de.yaml` or `pt-BR.yaml`"
        )
        context.diagnostics.add(LocatedDiagnostic(file=file, message=message))
        return None
    entry = context.read_spec(TRANSLATIONS, name, TranslationSpec, "translation")
    if entry is None:
        return None
    own = dict(_own_words(entry, known, context))
    shared = _shared_words(name, context)
    phrases = {**_phrases(shared), **entry.spec.phrases}
    of_packs = {key: text for spec in shared for _, key, text in _leaves(spec)}
    texts = {**{key: phrases[text] for key, text in known.items() if text in phrases}, **of_packs, **own}
    return Translation(language=name, words={written(key): texts[key] for key in known if key in texts})


def _own_words(
    entry: Entry[TranslationSpec], known: Mapping[Key, str], context: LoadContext
) -> Iterator[tuple[Key, str]]:
    """Yield the texts of a study's own file; unknown parts become errors."""
    for path, key, text in _leaves(entry.spec):
        if key in (CONSENT, WARNING):
            continue
        if key in known:
            yield key, text
        else:
            context.diagnostics.add(_unknown(entry, path, key, known))
    for key, name in ((CONSENT, entry.spec.consent), (WARNING, entry.spec.warning)):
        wording = context.text(entry, *key, name=name) if name else None
        problem = unfinished(wording) if wording is not None and key == CONSENT else ""
        if problem:  # it is not shown before it is complete
            message = f"{problem}; {NEEDED}"
            context.diagnostics.add(LocatedDiagnostic(file=name, message=message, severity=Severity.OPEN))
        elif wording is not None:
            yield key, wording


def _leaves(spec: PackTranslationSpec) -> Iterator[tuple[Path, Key, str]]:
    """Yield every text of a file: its path, and the key of the study's text that it translates."""
    yield from _below(spec.model_dump(exclude={"phrases"}, exclude_defaults=True), (), ())


def _below(value: Any, path: Path, key: Key) -> Iterator[tuple[Path, Key, str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _below(item, (*path, name), (*key, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _below(item, (*path, at), (*key, str(at + 1)))
    elif value:
        yield path, key, str(value)


def _unknown(entry: Entry[TranslationSpec], path: Path, key: Key, known: Mapping[Key, str]) -> LocatedDiagnostic:
    """Return the error of a text that the study does not have, at the first unknown name."""
    depth = next(n for n in range(1, len(key) + 1) if all(other[:n] != key[:n] for other in known))
    there = dict.fromkeys(
        other[depth - 1] for other in known if other[: depth - 1] == key[: depth - 1] and len(other) >= depth
    )
    where = f" in `{'/'.join(key[: depth - 1])}`" if depth > 1 else ""
    tail = did_you_mean(key[depth - 1], there) or (f"; there are: {', '.join(there)}" if there else "")
    message = f"the study has no text `{key[depth - 1]}`{where} that people read{tail}"
    return entry.diagnostic(*path[:depth], message=message, at_key=isinstance(path[depth - 1], str))


def _shared_words(language: str, context: LoadContext) -> list[PackTranslationSpec]:
    """Return the texts of a study's packs in a language, in their order."""
    specs = []
    for pack in context.packs:
        file = f"{pack}/{TRANSLATIONS}/{language}.yaml"
        resource = context.resolver.resource(file)
        if resource is not None:
            source = read_yaml(resource.raw, file)
            spec = validated(source, PackTranslationSpec, owner=f"translation `{language}` of `{pack}`")
            context.diagnostics.add(*source.faults)
            specs += [spec] if spec is not None else []
    return specs


def _phrases(specs: list[PackTranslationSpec]) -> dict[str, str]:
    return {text: wording for spec in specs for text, wording in spec.phrases.items()}


def _note_missing(
    study: Study, parts: Mapping[Key, Mapping[Key, str]], translation: Translation, context: LoadContext
) -> None:
    """Report the gaps of a translation in one note."""
    lacking = {part: keys for part, texts in parts.items() if (keys := missing(texts, translation))}
    if not lacking:
        return
    n_missing, n_texts = sum(map(len, lacking.values())), sum(map(len, parts.values()))
    listed = "; ".join(_listed(part, keys, len(parts[part])) for part, keys in lacking.items())
    message = (
        f"{n_missing} of {n_texts} texts are missing in `{translation.language}`; "
        f"until they are there, people read in `{study.language}`: {listed}"
    )
    file = f"{TRANSLATIONS}/{translation.language}.yaml"
    context.diagnostics.add(LocatedDiagnostic(file=file, message=message, severity=Severity.NOTE))


def _listed(part: Key, keys: list[Key], n_texts: int) -> str:
    inner = ["/".join(key[len(part) :] if key[: len(part)] == part else key) for key in keys if key != part]
    details = ", ".join(inner) if len(inner) <= _SHOWN else f"{len(inner)} of {n_texts}"
    return "/".join(part) + (f" ({details})" if inner else "")
