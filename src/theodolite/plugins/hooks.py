"""Hooks: what a plugin may bring. Each is an empty function that says what is expected.

A plugin is an installed package with an entry point in the group `theodolite`:

    [project.entry-points.theodolite]
    our-house = "our_house.theodolite_plugin"

The object that it names (a module will do) has functions of these names.
"""

from __future__ import annotations

from importlib.resources.abc import Traversable

from theodolite.measurement.trees.methods import SummaryMethod
from theodolite.testing.strategies.approach import Approach


def summaries() -> tuple[SummaryMethod, ...]:
    """Return summary methods that measurement trees may name, beside the built-in ones.

    A method that sums up numbers has `combine`, from values and weights to one
    number or None; one on labels has `describe`, from labels with their counts
    to those worth showing. Give each a name with a version (`our-house/top-two@1`):
    a function that changes needs a new name, for trees of one name are compared.
    """
    return ()


def strategies() -> tuple[Approach, ...]:
    """Return strategies of red teaming that studies may name under `attacks`, beside the shipped ones.

    The line of a strategy is a generator: it yields what to say next (`Try`) or
    what to ask a model (`AskModel`), is sent what came of it (`AttackReply`), and is
    closed once something was released. It does no I/O and draws no chance, since
    a session that was interrupted is replayed. Raise `edition` whenever its words
    or rules change, or results of different rules are taken for equal.
    """
    return ()


def resources() -> Traversable | None:
    """Return a folder of measurement resources, laid out as the shipped one.

    Guidelines, personas and packs in it are found by name, after those of the
    study's own folder and before the shipped ones. This is how an organisation
    shares its guidelines: as a versioned package.
    """
    return None
