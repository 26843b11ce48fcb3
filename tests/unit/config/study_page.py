"""The tables of docs/reference/study-file.md, made from the shapes that the files must have.

`python -m tests.unit.config.study_page` writes them anew between their marks.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from theodolite.config.annotator_attributes import describe_specs

from theodolite.config.specs import (
    applications,
    connection,
    guidelines,
    instruments,
    prices,
    scenarios,
    series,
    study,
    translations,
)
from theodolite.config.specs.base import Spec

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "study-file.md"
TABLES: dict[str, type[Spec]] = {
    "study": study.StudySpec,
    "model": study.ModelSpec,
    "connection": connection.ConnectionSpec,
    "price": study.PriceSpec,
    "listed price": prices.ListedPriceSpec,
    "series": series.SeriesSpec,
    "taxonomy": series.TaxonomySpec,
    "every application": applications.ApplicationSpec,
    "recorded": applications.RecordedSpec,
    "prompted model": applications.PromptedModelSpec,
    "http": applications.HttpSpec,
    "python": applications.PythonSpec,
    "code": applications.CodeSpec,
    "aria": applications.AriaSpec,
    "scenario": scenarios.ScenarioSpec,
    "script": scenarios.ScriptSpec,
    "personas": scenarios.PersonaGroupSpec,
    "guideline": guidelines.GuidelineSpec,
    "defect rule": guidelines.DefectSpec,
    "question": guidelines.QuestionSpec,
    "example": guidelines.ExampleSpec,
    "judge": guidelines.JudgeSpec,
    "rule": guidelines.WordRuleSpec,
    "annotator": guidelines.AnnotatorSpec,
    "reference": study.ReferenceSpec,
    "correction": study.CorrectionSpec,
    "calibration": study.CalibrationSpec,
    "sampling": study.SamplingSpec,
    "budget": study.BudgetSpec,
    "risk": study.RiskSpec,
    "level": study.LevelSpec,
    "annotation": study.AnnotationSpec,
    "order": study.OrderSpec,
    "annotation schema": instruments.AnnotationSchemaSpec,
    "route": instruments.RouteSpec,
    "category": instruments.CategorySpec,
    "exemplar": guidelines.ExemplarSpec,
    "questionnaire": instruments.QuestionnaireSpec,
    "asked": instruments.QuestionnaireQuestionSpec,
    "event": study.EventSpec,
    "breaks": study.BreaksSpec,
    "screening": study.ScreeningSpec,
    "translation": translations.TranslationSpec,
    "translated scenario": translations.ScenarioTranslationSpec,
    "translated topic": translations.TopicTranslationSpec,
    "translated questionnaire": translations.QuestionnaireTranslationSpec,
    "translated category": translations.CategoryTranslationSpec,
    "translated question": translations.QuestionTranslationSpec,
}
MARKED = re.compile(r"(?P<mark><!-- keys of: (?P<name>[\w ]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def table(spec: type[Spec]) -> str:
    """Return the keys of a shape as a table; those that all applications share stand in a table of their own."""
    describe_specs()
    shared = _shared_keys(spec)
    rows = [
        f"| `{field.alias or name}` | {' '.join((field.description or '').split())} | {default(field)} |"
        for name, field in spec.model_fields.items()
        if name not in shared
    ]
    return "\n".join(["| key | meaning | default |", "|---|---|---|", *rows]) + "\n"


def _shared_keys(spec: type[Spec]) -> set[str]:
    """Return the keys of a shape that stand in the table of the shape that it refines."""
    bases = (applications.CodeSpec, applications.ApplicationSpec)
    return {name for base in bases if spec is not base and issubclass(spec, base) for name in base.model_fields}


def default(field: FieldInfo) -> str:
    """Return what holds where a key is left out."""
    if field.is_required():
        return "required"
    value = field.default
    if value is PydanticUndefined or value in (None, "") or isinstance(value, Spec):
        return "none"
    return f"`{getattr(value, 'value', value)}`"


def page() -> str:
    """Return the page with its tables made anew."""
    text = PAGE.read_text(encoding="utf-8")
    return MARKED.sub(lambda found: found["mark"] + table(TABLES[found["name"]]), text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
