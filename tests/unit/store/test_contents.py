"""Records written as canonical JSON are read back as they were."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from hypothesis import strategies as st

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator, ModelJudge, RecordedLabels, WordRule
from theodolite.domain.application import (
    Application,
    AriaClass,
    Claim,
    HttpEndpoint,
    ModelEndpoint,
    ModelKind,
    Price,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.errors import WrongSchema
from theodolite.domain.event import AnnotationProcess, Event, LevelPlan
from theodolite.domain.guideline import DefectRule, Example, Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Instrument, Label, Operator, Question, Scale, ScaleKind
from theodolite.domain.persona import Persona, PersonaGroup
from theodolite.domain.plan import Plan
from theodolite.domain.record_reading import record_from
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Budget, Reference, Sampling, Study
from theodolite.store.contents import content_of, packed, record_of, unpacked

TEXTS = st.text(st.characters(exclude_categories=()), max_size=8)

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)

AMOUNTS = st.floats(min_value=0, exclude_min=True, allow_nan=False, allow_infinity=False)

NAMES = st.dictionaries(TEXTS, TEXTS, max_size=2)


ADDRESSES = st.sampled_from(("", "http://127.0.0.1:8000/v1", "https://bot.example/chat?lang=de"))

MODELS = st.builds(
    ModelEndpoint,
    url=ADDRESSES,
    name=TEXTS,
    params=st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(), NUMBERS, st.booleans()), max_size=2),
    price=st.none() | st.builds(Price, input_usd=NUMBERS, output_usd=NUMBERS),
    timeout_s=AMOUNTS,
)

CONNECTIONS = st.one_of(
    st.builds(RecordedFile, columns=NAMES, where=NAMES),
    st.builds(PromptedModel, context=NAMES),
    st.builds(HttpEndpoint, url=ADDRESSES, headers=NAMES, timeout_s=NUMBERS),
    st.builds(PythonCallable, target=TEXTS, timeout_s=NUMBERS),
    st.builds(AriaClass, target=TEXTS, timeout_s=NUMBERS),
)

APPLICATIONS = st.builds(Application, connection=CONNECTIONS, claims=st.lists(st.builds(Claim), max_size=1).map(tuple))

LABELLINGS = st.one_of(st.builds(ModelJudge), st.builds(WordRule), st.builds(RecordedLabels, spelling=NAMES))


SCALES = st.one_of(
    st.builds(
        Scale,
        kind=st.just(ScaleKind.CATEGORIES),
        labels=st.lists(st.builds(Label), min_size=2, max_size=3, unique_by=lambda label: label.value).map(tuple),
        lowest=st.none(),
        highest=st.none(),
    ),
    st.builds(
        Scale,
        kind=st.just(ScaleKind.NUMBERS),
        labels=st.just(()),
        lowest=st.integers(-5, 0),
        highest=st.integers(1, 10),
    ),
)

QUESTIONS = st.builds(Question, scale=SCALES, name=st.just("score"))

RULES = st.builds(DefectRule, question=st.just("score"), operator=st.sampled_from(Operator), values=st.tuples(TEXTS))

GUIDELINES = st.builds(
    Guideline,
    instrument=st.builds(Instrument, questions=st.tuples(QUESTIONS)),
    defect_rules=st.lists(RULES, min_size=1, max_size=2).map(tuple),
    examples=st.lists(st.builds(Example), max_size=1).map(tuple),
)


def few(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=2).map(tuple)


STUDIES = st.builds(
    Study,
    name=TEXTS,
    about=TEXTS,
    applications=few(APPLICATIONS),
    scenarios=few(st.builds(Scenario)),
    models=few(MODELS),
    personas=few(st.builds(PersonaGroup)),
    guidelines=few(GUIDELINES),
    annotators=few(st.builds(Annotator, labelling=LABELLINGS)),
    reference=st.none() | st.builds(Reference),
    groups=few(TEXTS),
    sampling=st.builds(Sampling),
    budget=st.builds(Budget, usd=st.none() | AMOUNTS),
    levels=few(st.builds(LevelPlan)),
    annotation=st.none() | st.builds(AnnotationProcess, quality_check=st.floats(0, 1)),
    event=st.none() | st.builds(Event),
)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60, deadline=None)
@given(STUDIES)
def test_a_study_is_restored_unchanged(study: Study) -> None:
    text = content_of(study).text

    text.encode()
    again = record_from(Study, text)
    assert again == study
    assert version_of(again) == version_of(study)


@given(st.one_of(st.builds(Persona), st.builds(Plan)))
def test_personas_and_plans_are_restored_unchanged(record: Persona | Plan) -> None:
    assert record_from(type(record), content_of(record).text) == record


@pytest.mark.parametrize("connection", [AriaClass(target="team:Bot"), PythonCallable(target="team:Bot")])
def test_members_of_a_union_with_equal_fields_are_distinguished(connection: AriaClass | PythonCallable) -> None:
    application = Application(name="bot", connection=connection)

    assert record_from(Application, content_of(application).text) == application


def test_nested_parameters_of_a_model_are_restored_unchanged() -> None:
    params = {"temperature": 0.5, "seed": None, "thinking": {"type": "enabled", "budget": 1}, "stop": ["a", "b"]}
    model = ModelEndpoint(name="m", url="http://h", kind=ModelKind.ANTHROPIC, params=params)

    assert record_from(ModelEndpoint, content_of(model).text) == model


def test_text_of_another_format_is_reported_as_such() -> None:
    with pytest.raises(WrongSchema, match="Persona"):
        record_of(Persona, '{"colour":"blue"}')


@pytest.mark.parametrize("kind", AnnotatorKind)
def test_words_are_restored_as_enum_members(kind: AnnotatorKind) -> None:
    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class Small:
        kind: AnnotatorKind

    Small.__annotations__["kind"] = AnnotatorKind
    assert record_from(Small, content_of(Small(kind=kind)).text).kind is kind


BASE = b"You are Ana, a customer of a shop. Write as people write in a chat: one or two short sentences. " * 4


@given(text=some.binary(max_size=9_000), base=some.binary(max_size=9_000))
def test_packed_content_is_restored(text: bytes, base: bytes) -> None:
    small = packed(base + text, base)

    assert small is None or unpacked(small, base) == base + text


@pytest.mark.parametrize("times", [1, 50], ids=["within a small window", "beyond it"])
def test_similar_records_take_a_fraction_of_their_size(times: int) -> None:
    text = BASE.replace(b"Ana", b"Bo") * times

    small = packed(text, BASE * times)

    assert small is not None
    assert len(small) < len(text) / 5


@pytest.mark.parametrize(
    "text", [b"short", bytes(range(256))], ids=["too short", "without anything in common with itself"]
)
def test_incompressible_content_is_stored_unchanged(text: bytes) -> None:
    assert packed(text) is None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _OldName:
    other: str
    held: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _NewName:
    STORED_AS: ClassVar[str] = "_OldName"

    other: str
    completed: int = dataclasses.field(default=0, metadata={"stored_as": "held"})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Holder:
    part: _NewName | HttpEndpoint


def test_renamed_classes_and_fields_keep_their_stored_names_and_versions():
    old, new = content_of(_OldName(other="a", held=2)), content_of(_NewName(other="a", completed=2))

    assert (new.version, new.tag, new.text) == (old.version, old.tag, old.text)
    assert record_of(_NewName, old.text) == _NewName(other="a", completed=2)


def test_a_renamed_class_is_found_among_the_members_of_a_union():
    holder = _Holder(part=_NewName(other="a", completed=2))

    text = content_of(holder).text

    assert text == '{"part":{"held":2,"is":"_OldName","other":"a"}}'
    assert record_of(_Holder, text) == holder
