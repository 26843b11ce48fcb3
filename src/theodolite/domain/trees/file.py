"""The tree file: one design with the leaves of one or more applications, for anybody to compute again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.domain.identity import Json
from theodolite.domain.trees.form import DESIGN_KEYS, design_document, design_of
from theodolite.domain.trees.leaf import Leaf
from theodolite.domain.trees.tree import TreeDesign

FORMAT: Final = "theodolite-tree/1"
"""Name and number of the file's form; the number rises when readers break."""

LEAF_KEYS = (
    "question",
    "session",
    "value",
    "outcome",
    "by",
    "kind",
    "turn",
    "replicate",
    "cluster",
    "level",
    "held_by",
    "groups",
)
"""What a leaf may say, in the order of the file."""

_TEXTS = ("question", "session", "by", "kind", "cluster", "level", "held_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafSet:
    """The leaves of one application.

    Attributes:
        application: Name of the application.
        leaves: Its leaves.
        scenarios: Names of the scenarios that the dialogues belong to.
        versions: Content hashes of the instruments by name.
    """

    application: str
    leaves: tuple[Leaf, ...]
    scenarios: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFile:
    """A design with what it is computed from.

    Attributes:
        design: The tree.
        sets: Leaves by application, in the order of the file.
    """

    design: TreeDesign
    sets: tuple[LeafSet, ...] = ()

    def of(self, application: str = "") -> LeafSet:
        """Return the leaves of an application; of the only one where none is named.

        Raises:
            InputError: If the file has no such application, or several and none is named.
        """
        names = [each.application for each in self.sets]
        if not application and len(self.sets) == 1:
            return self.sets[0]
        if application in names:
            return self.sets[names.index(application)]
        near = did_you_mean(application, names) if application else ""
        came = f"got `{application}`" if application else "none is named"
        message = f"expected one of the file's applications ({', '.join(names) or 'it has none'}); {came}{near}"
        raise InputError(message)


def tree_file_of(plain: Mapping[str, Any]) -> TreeFile:
    """Return what a tree file holds: a design alone, or one with leaves.

    Raises:
        InputError: If it is no tree file; says everything that is wrong.
    """
    if "nodes" in plain:  # a design by itself
        return TreeFile(design=design_of(plain))
    form = plain.get("format")
    if form != FORMAT or not isinstance(plain.get("tree"), Mapping):
        message = (
            f"expected a tree (`tree`, `nodes`) or a tree file (`format: {FORMAT}`, `tree`, `applications`);"
            f" got the keys {', '.join(map(str, plain)) or 'none'}"
        )
        raise InputError(message)
    sets = plain.get("applications")
    if not isinstance(sets, list):
        message = f"`applications` must be a list; got {sets!r}"
        raise InputError(message)
    return TreeFile(design=design_of(plain["tree"]), sets=tuple(_leaf_set(each, at) for at, each in enumerate(sets)))


def tree_file_document(file: TreeFile, nodes: Mapping[str, Sequence[Json]] | None = None) -> dict[str, Json]:
    """Return the plain form of a tree file; `tree_file_of` reads it back to an equal one.

    Args:
        file: The design and the leaves.
        nodes: Application to what its nodes came to, to stand beside the leaves; readers compute it anew.
    """
    sets: list[Json] = []
    for each in file.sets:
        entry: dict[str, Json] = {"application": each.application, "scenarios": list(each.scenarios)}
        entry["versions"] = dict(each.versions)
        if nodes and each.application in nodes:
            entry["nodes"] = list(nodes[each.application])
        entry["leaves"] = [leaf_document(leaf) for leaf in each.leaves]
        sets.append(entry)
    tree = design_document(file.design)
    return {"format": FORMAT, "tree": {key: tree[key] for key in DESIGN_KEYS if key in tree}, "applications": sets}


def leaf_document(leaf: Leaf) -> dict[str, Json]:
    """Return the plain form of a leaf: what is as usual is left out."""
    plain: dict[str, Json] = {
        "question": leaf.question,
        "session": leaf.session,
        "value": leaf.value,
        "outcome": "" if leaf.outcome is Outcome.ANSWERED else leaf.outcome.value,
        "by": leaf.by,
        "kind": leaf.kind,
        "turn": leaf.turn,
        "replicate": None if leaf.replicate == 1 else leaf.replicate,
        "cluster": leaf.cluster,
        "level": leaf.level,
        "held_by": leaf.held_by,
        "groups": dict(leaf.groups),
    }
    return {key: value for key, value in plain.items() if value not in (None, "", {})}


def _leaf_set(plain: Any, at: int) -> LeafSet:
    where = f"applications[{at}]"
    if not isinstance(plain, Mapping) or not isinstance(plain.get("leaves"), list):
        message = f"`{where}` must be a mapping with a list `leaves`"
        raise InputError(message)
    return LeafSet(
        application=str(plain.get("application", "")),
        leaves=leaves_of(plain["leaves"], where),
        scenarios=tuple(str(name) for name in plain.get("scenarios") or ()),
        versions={str(name): str(version) for name, version in (plain.get("versions") or {}).items()},
    )


def leaves_of(rows: Iterable[Any], where: str = "leaves") -> tuple[Leaf, ...]:
    """Return the leaves that plain rows describe.

    Raises:
        InputError: If rows describe none; says the first ten of them.
    """
    leaves: list[Leaf] = []
    wrong: list[str] = []
    for at, row in enumerate(rows):
        try:
            leaves.append(_leaf(row))
        except InputError as error:
            wrong.append(f"{where}.leaves[{at}]: {error}")
    if wrong:
        more = f"; and {len(wrong) - 10} more" if len(wrong) > 10 else ""
        raise InputError("; ".join(wrong[:10]) + more)
    return tuple(leaves)


def _leaf(row: Any) -> Leaf:
    if not isinstance(row, Mapping):
        message = f"a leaf must be a mapping; got {row!r}"
        raise InputError(message)
    unknown = [key for key in row if key not in LEAF_KEYS]
    if unknown:
        message = f"unknown key `{unknown[0]}`{did_you_mean(str(unknown[0]), LEAF_KEYS)}"
        raise InputError(message)
    outcome = row.get("outcome", Outcome.ANSWERED.value if row.get("value") is not None else Outcome.MISSING.value)
    outcomes = [each.value for each in Outcome]
    if outcome not in outcomes:
        message = f"`outcome` is `{outcome}`{did_you_mean(str(outcome), outcomes) or '; one of ' + ', '.join(outcomes)}"
        raise InputError(message)
    missing = [key for key in ("question", "session") if not row.get(key)]
    if missing:
        message = f"a leaf needs `{'` and `'.join(missing)}`"
        raise InputError(message)
    texts = {key: str(row[key]) for key in _TEXTS if row.get(key) is not None}
    groups = row.get("groups") or {}
    return Leaf(
        **texts,
        value=_value(row.get("value")),
        outcome=Outcome(outcome),
        turn=_count(row.get("turn"), "turn"),
        replicate=_count(row.get("replicate"), "replicate") or 1,
        groups={str(name): str(part) for name, part in dict(groups).items()},
    )


def _value(value: Any) -> str | None:
    """Return an answer as a text; 4 and 4.0 are both `4`."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.15g}"
    message = f"`value` must be a text or a number; got {value!r}"
    raise InputError(message)


def _count(value: Any, name: str) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    message = f"`{name}` must be a whole number from 1; got {value!r}"
    raise InputError(message)
