"""Annotation schemas and questionnaires: the instruments that people answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.annotation import Answer
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Instrument


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """One category of a schema: a guideline that annotators qualify for and are assigned to.

    Attributes:
        guideline: Its questions and the rule for defects.
        title: Displayed title.
    """

    guideline: Guideline
    title: str = ""

    @property
    def name(self) -> str:
        """Name of the category, equal to that of its guideline."""
        return self.guideline.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Route of a dialogue after the first category; the deciders on violations are not part of it.

    Attributes:
        first: Category for every dialogue.
        on_violation: Categories that follow if a guardrail was violated, in order.
        otherwise: Categories that follow otherwise; then the dialogue is final.
    """

    first: str
    on_violation: tuple[str, ...]
    otherwise: tuple[str, ...] = ()

    def after(self, *, violated: bool) -> tuple[str, ...]:
        """Return the categories that follow the first one.

        Args:
            violated: Whether the first category found a violation, or left the question open.
        """
        return self.on_violation if violated else self.otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationSchema:
    """Ordered categories with their routing; frozen by its content hash once it is used.

    Attributes:
        name: Identifier within the study.
        categories: The categories in the order in which people see them.
        routing: Route of a dialogue after the first one; None sends all dialogues to all.
        edition: Edition that its author gave it.
        about: Its content and source.
    """

    name: str
    categories: tuple[Category, ...]
    routing: Routing | None = None
    edition: str = ""
    about: str = ""

    def __post_init__(self) -> None:
        """Reject a schema without a category, with duplicate names, or with routes to categories that it lacks."""
        names = [category.name for category in self.categories]
        if not names or len(set(names)) != len(names):
            message = f"schema `{self.name}` needs categories of different names; got {names}"
            raise InputError(message)
        route = self.routing
        named = (route.first, *route.on_violation, *route.otherwise) if route else ()
        strange = [name for name in named if name not in names]
        if strange:
            message = f"schema `{self.name}` routes to `{strange[0]}`, which is none of its categories {names}"
            raise InputError(message)

    def category(self, name: str) -> Category:
        """Return the category of that name.

        Raises:
            InputError: If the schema has no such category.
        """
        for category in self.categories:
            if category.name == name:
                return category
        message = f"schema `{self.name}` has no category `{name}`"
        raise InputError(message)

    @property
    def opening(self) -> tuple[str, ...]:
        """Names of the categories for every dialogue from the start."""
        return (self.routing.first,) if self.routing else tuple(category.name for category in self.categories)


@dataclass(frozen=True, slots=True, kw_only=True)
class Questionnaire:
    """Questions that a tester answers once a session is over.

    Attributes:
        name: Identifier within the study.
        instrument: The questions, all about the session as a whole.
        title: Heading that testers read.
        about: One or two sentences above the questions.
        edition: Edition that its author gave it; identity is the content hash.
    """

    name: str
    instrument: Instrument
    title: str = ""
    about: str = ""
    edition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionnaireResponse:
    """One tester's answers to one questionnaire after one session.

    The session determines the subject of the response; a store adds it when reading.

    Attributes:
        session: Key of the session.
        participant: Opaque key of the person.
        questionnaire: Name of the questionnaire.
        instrument_version: Content hash of the questionnaire.
        answers: The answers; one for each chosen label if several may be chosen.
        revision: Number of the revision, from 1.
        submitted: Whether the tester has submitted it; until then it is a draft.
        application: Name of the application in the session.
        scenario: Name of the scenario.
        level: Level of testing; None if the session is not known.
        dialogues: Keys of the session's dialogues.
        groups: Group name to value, of the session.
    """

    session: str
    participant: str
    questionnaire: str
    instrument_version: str
    answers: tuple[Answer, ...]
    revision: int = 1
    submitted: bool = False
    application: str = ""
    scenario: str = ""
    level: Level | None = None
    dialogues: tuple[str, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name of its session in trees."""
        return f"session {self.session[:8]}"

    def to(self, question: str) -> tuple[Answer, ...]:
        """Return the answers to one question: several if several labels were chosen, none if it is open."""
        return tuple(answer for answer in self.answers if answer.question == question)
