"""The tables of docs/reference/study-file.md, generated from the specs.

`python -m tests.unit.config.study_page` writes them again between their marks.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from theodolite.config.annotators import AnnotatorSpec, ReferenceSpec
from theodolite.config.applications import AriaSpec, CodeSpec, PromptedModelSpec, PythonSpec
from theodolite.config.cases import CaseSpec, CasesSpec
from theodolite.config.connections import ApplicationSpec, ConnectionSpec, HttpSpec
from theodolite.config.events import (
    AnnotationSpec,
    BreaksSpec,
    EventSpec,
    LevelSpec,
    OrderSpec,
    PreAnnotationSpec,
    ScreeningSpec,
)
from theodolite.config.guidelines import DefectSpec, ExampleSpec, GuidelineSpec
from theodolite.config.instruments import (
    AnnotationSchemaSpec,
    CategorySpec,
    QuestionnaireQuestionSpec,
    QuestionnaireSpec,
    RouteSpec,
)
from theodolite.config.judges import CalibrationSpec, CorrectionSpec, JudgeSpec, WordRuleSpec
from theodolite.config.models import ListedPriceSpec, ModelSpec, PriceSpec
from theodolite.config.packets import HeldOutSpec, PacketSpec
from theodolite.config.personas import PersonaGroupSpec
from theodolite.config.questions import ExemplarSpec, QuestionSpec
from theodolite.config.recordings import RecordedSpec
from theodolite.config.scenarios import ScenarioSpec, ScriptSpec
from theodolite.config.schemas import describe_specs
from theodolite.config.series import RiskSpec, SeriesSpec, TaxonomySpec
from theodolite.config.study import BudgetSpec, SamplingSpec, StudySpec, TypologySpec, UserTypesSpec
from theodolite.config.translations import (
    CategoryTranslationSpec,
    QuestionnaireTranslationSpec,
    QuestionTranslationSpec,
    ScenarioTranslationSpec,
    TopicTranslationSpec,
    TranslationSpec,
)
from theodolite.config.validation import Spec

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "study-file.md"
TABLES: dict[str, type[Spec]] = {
    "study": StudySpec,
    "model": ModelSpec,
    "connection": ConnectionSpec,
    "price": PriceSpec,
    "listed price": ListedPriceSpec,
    "series": SeriesSpec,
    "taxonomy": TaxonomySpec,
    "held out": HeldOutSpec,
    "packet": PacketSpec,
    "every application": ApplicationSpec,
    "recorded": RecordedSpec,
    "prompted model": PromptedModelSpec,
    "http": HttpSpec,
    "python": PythonSpec,
    "code": CodeSpec,
    "aria": AriaSpec,
    "cases": CasesSpec,
    "case": CaseSpec,
    "scenario": ScenarioSpec,
    "script": ScriptSpec,
    "personas": PersonaGroupSpec,
    "guideline": GuidelineSpec,
    "defect rule": DefectSpec,
    "question": QuestionSpec,
    "example": ExampleSpec,
    "judge": JudgeSpec,
    "rule": WordRuleSpec,
    "annotator": AnnotatorSpec,
    "reference": ReferenceSpec,
    "correction": CorrectionSpec,
    "calibration": CalibrationSpec,
    "sampling": SamplingSpec,
    "budget": BudgetSpec,
    "typology": TypologySpec,
    "user types": UserTypesSpec,
    "risk": RiskSpec,
    "level": LevelSpec,
    "annotation": AnnotationSpec,
    "order": OrderSpec,
    "pre_annotation": PreAnnotationSpec,
    "annotation schema": AnnotationSchemaSpec,
    "route": RouteSpec,
    "category": CategorySpec,
    "exemplar": ExemplarSpec,
    "questionnaire": QuestionnaireSpec,
    "asked": QuestionnaireQuestionSpec,
    "event": EventSpec,
    "breaks": BreaksSpec,
    "screening": ScreeningSpec,
    "translation": TranslationSpec,
    "translated scenario": ScenarioTranslationSpec,
    "translated topic": TopicTranslationSpec,
    "translated questionnaire": QuestionnaireTranslationSpec,
    "translated category": CategoryTranslationSpec,
    "translated question": QuestionTranslationSpec,
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
    bases = (CodeSpec, ApplicationSpec)
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
