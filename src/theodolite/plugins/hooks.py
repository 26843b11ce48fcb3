"""Hooks: what a plugin may bring. Each is an empty function that says what is expected.

A plugin is an installed package with an entry point in the group `theodolite`:

    [project.entry-points.theodolite]
    our-house = "our_house.theodolite_plugin"

The object that it names (a module will do) has functions of these names.
"""

from __future__ import annotations

from importlib.resources.abc import Traversable

from theodolite.measurement.trees.methods import SummaryMethod


def summaries() -> tuple[SummaryMethod, ...]:
    """Return summary methods that measurement trees may name, beside the built-in ones.

    A method that sums up numbers has `combine`, from values and weights to one
    number or None; one on labels has `describe`, from labels with their counts
    to those worth showing. Give each a name with a version (`our-house/top-two@1`):
    a function that changes needs a new name, for trees of one name are compared.
    """
    return ()


def resources() -> Traversable | None:
    """Return a folder of measurement resources, laid out as the shipped one.

    Guidelines, personas and packs in it are found by name, after those of the
    study's own folder and before the shipped ones. This is how an organisation
    shares its guidelines: as a versioned package.
    """
    return None
