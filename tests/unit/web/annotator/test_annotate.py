"""Questions of annotators in their language."""

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


def test_questions_and_labels_are_shown_in_the_language_and_sent_as_what_they_are():
    found = in_language(SHEET, STUDY, localised(STUDY, "de"))
    first, before = found.items[0], SHEET.items[0]

    assert (found.title, first.question.text) == ("de Risk", f"de {before.question.text}")
    assert [choice.value for choice in first.field.plain] == [choice.value for choice in before.field.plain]
    assert all(choice.words == f"De {choice.value}" for choice in first.field.plain)
    assert [item.key for item in found.items] == [item.key for item in SHEET.items]


def test_half_a_category_stays_in_the_studys_own_language():
    lacking = replace(STUDY, translations=(Translation(language="de", words=dict(list(WORDS.items())[1:])),))

    assert in_language(SHEET, lacking, localised(lacking, "de")) is SHEET


def test_a_sitting_of_another_edition_stays_as_it_was_asked():
    first, *rest = GUIDELINE.instrument.questions
    reworded = replace(GUIDELINE.instrument, questions=(replace(first, text="Otherwise?"), *rest))
    later = replace(STUDY, guidelines=(replace(GUIDELINE, instrument=reworded),))

    assert in_language(SHEET, later, localised(later, "de")) is SHEET
