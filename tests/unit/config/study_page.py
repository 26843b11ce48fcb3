"""The tables of docs/reference/study-file.md, made from the shapes that the files must have.

`python -m tests.unit.config.study_page` writes them anew between their marks.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from theodolite.config.described import describe_shapes
from theodolite.config.shapes import (
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
from theodolite.config.shapes.base import Shape

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "study-file.md"
TABLES: dict[str, type[Shape]] = {
    "study": study.StudyShape,
    "model": study.ModelShape,
    "connection": connection.ConnectionShape,
    "price": study.PriceShape,
    "listed price": prices.ListedPriceShape,
    "series": series.SeriesShape,
    "taxonomy": series.TaxonomyShape,
    "every application": applications.ApplicationShape,
    "recorded": applications.RecordedShape,
    "prompted model": applications.PromptedModelShape,
    "http": applications.HttpShape,
    "python": applications.PythonShape,
    "code": applications.CodeShape,
    "aria": applications.AriaShape,
    "scenario": scenarios.ScenarioShape,
    "script": scenarios.ScriptShape,
    "personas": scenarios.PersonasShape,
    "guideline": guidelines.GuidelineShape,
    "defect rule": guidelines.DefectShape,
    "question": guidelines.QuestionShape,
    "example": guidelines.ExampleShape,
    "judge": guidelines.JudgeShape,
    "rule": guidelines.WordsRuleShape,
    "annotator": guidelines.AnnotatorShape,
    "reference": study.ReferenceShape,
    "correction": study.CorrectionShape,
    "calibration": study.CalibrationShape,
    "sampling": study.SamplingShape,
    "budget": study.BudgetShape,
    "risk": study.RiskShape,
    "level": study.LevelShape,
    "annotation": study.AnnotationShape,
    "order": study.OrderShape,
    "annotation schema": instruments.SchemaShape,
    "route": instruments.RouteShape,
    "category": instruments.CategoryShape,
    "exemplar": guidelines.ExemplarShape,
    "questionnaire": instruments.QuestionnaireShape,
    "asked": instruments.AskedShape,
    "event": study.EventShape,
    "breaks": study.BreaksShape,
    "screening": study.ScreeningShape,
    "translation": translations.TranslationShape,
    "translated scenario": translations.ScenarioWordsShape,
    "translated topic": translations.TopicWordsShape,
    "translated questionnaire": translations.QuestionnaireWordsShape,
    "translated category": translations.CategoryWordsShape,
    "translated question": translations.QuestionWordsShape,
}
MARKED = re.compile(r"(?P<mark><!-- keys of: (?P<name>[\w ]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def table(shape: type[Shape]) -> str:
    """Return the keys of a shape as a table; those that all applications share stand in a table of their own."""
    describe_shapes()
    shared = _shared_keys(shape)
    rows = [
        f"| `{field.alias or name}` | {' '.join((field.description or '').split())} | {default(field)} |"
        for name, field in shape.model_fields.items()
        if name not in shared
    ]
    return "\n".join(["| key | meaning | default |", "|---|---|---|", *rows]) + "\n"


def _shared_keys(shape: type[Shape]) -> set[str]:
    """Return the keys of a shape that stand in the table of the shape that it refines."""
    bases = (applications.CodeShape, applications.ApplicationShape)
    return {name for base in bases if shape is not base and issubclass(shape, base) for name in base.model_fields}


def default(field: FieldInfo) -> str:
    """Return what holds where a key is left out."""
    if field.is_required():
        return "required"
    value = field.default
    if value is PydanticUndefined or value in (None, "") or isinstance(value, Shape):
        return "none"
    return f"`{getattr(value, 'value', value)}`"


def page() -> str:
    """Return the page with its tables made anew."""
    text = PAGE.read_text(encoding="utf-8")
    return MARKED.sub(lambda found: found["mark"] + table(TABLES[found["name"]]), text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
