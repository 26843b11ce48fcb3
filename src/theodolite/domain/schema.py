"""Annotation schemas: the categories that people annotate by, and which of them a dialogue goes to."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.errors import InputError
from theodolite.domain.guideline import Guideline


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """One category of a schema: a guideline that annotators qualify for and are assigned to.

    Attributes:
        guideline: Its questions and what makes an answer a defect.
        title: What people call it.
    """

    guideline: Guideline
    title: str = ""

    @property
    def name(self) -> str:
        """Name of the category, which is that of its guideline."""
        return self.guideline.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Where a dialogue goes after the first category; whoever decides whether it was a violation is not said here.

    Attributes:
        first: Category that every dialogue goes to.
        on_violation: Categories that follow where a guardrail was violated, in order.
        otherwise: Categories that follow where none was; then the dialogue is final.
    """

    first: str
    on_violation: tuple[str, ...]
    otherwise: tuple[str, ...] = ()

    def after(self, *, violated: bool) -> tuple[str, ...]:
        """Return the categories that follow the first one.

        Args:
            violated: Whether the first category found a violation, or left open whether there was one.
        """
        return self.on_violation if violated else self.otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationSchema:
    """Ordered categories with their routing; frozen by its content hash once it is used.

    Attributes:
        name: Identifier within the study.
        categories: The categories in the order in which people see them.
        routing: Where a dialogue goes after the first one; None sends all dialogues to all.
        edition: Edition that its author gave it.
        about: What it is, where it comes from.
    """

    name: str
    categories: tuple[Category, ...]
    routing: Routing | None = None
    edition: str = ""
    about: str = ""

    def __post_init__(self) -> None:
        """Refuse a schema without a category, two of one name, and routes to categories that it does not have."""
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
        """Names of the categories that every dialogue goes to from the start."""
        return (self.routing.first,) if self.routing else tuple(category.name for category in self.categories)
