"""The way to the queue as the annotator's first page shows it: which step one is at, and what is done in it."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.annotation import training
from theodolite.domain.annotating.training import CategoryStanding, Onboarding
from theodolite.domain.annotating.work import QueueDesign
from theodolite.store.annotating.queues import queue_of
from theodolite.web.annotator.desk import Desk, library
from theodolite.web.annotator.items import worded

TITLES = {
    "background": "Read what it is about",
    "rules": "Keep to the rules of judging",
    "practice": "Practise on examples",
    "test": "Pass the test of a category",
    "work": "Annotate",
}
"""The steps in their order, as the page calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step.

    Attributes:
        number: Its place, from 1.
        name: One of `TITLES`.
        is_done: Whether nothing is left to do in it.
        is_next: Whether one is at it now.
    """

    number: int
    name: str
    is_done: bool
    is_next: bool

    @property
    def title(self) -> str:
        """What is done in it, as a heading."""
        return TITLES[self.name]

    @property
    def state(self) -> str:
        """Where it stands, in a word."""
        if self.is_done:
            return "done"
        return "now" if self.is_next else "to do"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCategory:
    """One category on the way: its title, and where the annotator stands with it."""

    title: str
    standing: CategoryStanding

    @property
    def next_example(self) -> int:
        """Number of the example to practise on next; the first one again where all are done."""
        return self.standing.to_practise[0] if self.standing.to_practise else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """The way of one annotator to the queue.

    Attributes:
        steps: Those that the queue asks for, in order; the last one is the work itself.
        categories: Where they stand with each category.
        background: What the series is about.
        rules: The impartiality rules.
        pass_percent: Share of a test's answers that must be right; percent.
    """

    steps: tuple[Step, ...]
    categories: tuple[OwnCategory, ...]
    background: str
    rules: tuple[str, ...]
    pass_percent: int

    @property
    def here(self) -> Step:
        """The step that one is at."""
        return next(step for step in self.steps if step.is_next)

    @property
    def is_cleared(self) -> bool:
        """Whether work may be taken."""
        return self.here.name == "work"


def way_of(desk: Desk) -> Way:
    """Return the way of an annotator to their queue; one that asks for nothing consists of the work alone."""
    design = library().design(queue_of(desk.queue).design_id)
    found = training.onboarding(library(), desk.queue, desk.participant)
    return Way(
        steps=steps_of(design, found),
        categories=tuple(OwnCategory(title=worded(one.category), standing=one) for one in found.categories),
        background=design.background,
        rules=design.rules,
        pass_percent=round(100 * design.process.pass_mark),
    )


def steps_of(design: QueueDesign, found: Onboarding) -> tuple[Step, ...]:
    """Return the steps that a queue asks for, and where somebody stands in them.

    Work is at hand as soon as one category is open, even where others are still to be practised or tested.

    Args:
        design: What the queue asks.
        found: How far the annotator is.
    """
    some_practice = design.process.practice and any(one.n_practice for one in found.categories)
    done = {
        "background": (bool(design.background), found.background_read),
        "rules": (bool(design.rules), found.rules_read),
        "practice": (some_practice, all(one.practised for one in found.categories)),
        "test": (bool(design.process.pass_mark), all(one.qualified for one in found.categories)),
        "work": (True, False),
    }
    asked = [(name, is_done) for name, (is_asked, is_done) in done.items() if is_asked]
    now = "work" if found.is_cleared else next((name for name, is_done in asked if not is_done), "work")
    return tuple(
        Step(number=number, name=name, is_done=is_done, is_next=name == now)
        for number, (name, is_done) in enumerate(asked, start=1)
    )
