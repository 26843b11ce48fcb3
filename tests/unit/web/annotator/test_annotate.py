"""Questions from annotators in their language."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.web.annotator.test_annotation_page import DIALOGUE, GUIDELINE

from theodolite.domain.schema import AnnotationSchema, Category
from theodolite.domain.study import Study
from theodolite.domain.study_parts import Translation
from theodolite.domain.wording import localised, texts_of, written
from theodolite.web.annotator.annotate import in_language
from theodolite.web.annotator.annotation_page import annotation_page

PLAIN = Study(
    name="s",
    applications=(),
    scenarios=(),
    guidelines=(GUIDELINE,),
    schemas=(AnnotationSchema(name="a", categories=(Category(guideline=GUIDELINE, title="Risk"),)),),
)
WORDS = {written(key): f"de {text}" for texts in texts_of(PLAIN).values() for key, text in texts.items()}
STUDY = replace(PLAIN, translations=(Translation(language="de", words=WORDS),))
SHEET = annotation_page(GUIDELINE, DIALOGUE, ())


def test_questions_and_labels_are_shown_in_the_language_and_submitted_by_name():
    found = in_language(SHEET, STUDY, localised(STUDY, "de"))
    first, before = found.items[0], SHEET.items[0]

    assert (found.title, first.question.text) == ("de Risk", f"de {before.question.text}")
    assert [choice.value for choice in first.field.plain] == [choice.value for choice in before.field.plain]
    assert all(choice.words == f"De {choice.value}" for choice in first.field.plain)
    assert [item.key for item in found.items] == [item.key for item in SHEET.items]


def test_a_partly_translated_category_is_shown_in_the_original_language():
    lacking = replace(STUDY, translations=(Translation(language="de", words=dict(list(WORDS.items())[1:])),))

    assert in_language(SHEET, lacking, localised(lacking, "de")) is SHEET


def test_an_annotation_of_an_earlier_schema_version_is_unchanged():
    first, *rest = GUIDELINE.instrument.questions
    reworded = replace(GUIDELINE.instrument, questions=(replace(first, text="Otherwise?"), *rest))
    later = replace(STUDY, guidelines=(replace(GUIDELINE, instrument=reworded),))

    assert in_language(SHEET, later, localised(later, "de")) is SHEET
