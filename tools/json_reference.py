"""Write docs/reference/json-output.md from the schema of what `--json` prints.

python tools/json_reference.py           writes the page
python tools/json_reference.py --check   exits with 1 if the page is out of date
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from theodolite.cli.main import WITHOUT_JSON

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "src" / "theodolite" / "resources" / "schemas" / "json-output.schema.json"
PAGE = ROOT / "docs" / "reference" / "json-output.md"
HEAD = """\
# JSON output

This page is made by `make docs` from the schema of the output.
With `--json` a command prints one JSON object on one line of standard output.
Notes, progress and questions go to standard error.
`exit_code` is the [exit code](errors-and-exit-codes.md) of the command.
`null` means undefined or unknown, never 0.
`theodolite schemas FOLDER` writes the schema, `json-output.schema.json`.
It has one definition for each command, e.g. `check` and `import-labels`.
Other schemas in the folder define parts that [results.json](results-json.md) contains too.
New members may appear in later versions; see the [deprecation policy](deprecation.md).

A command that fails prints one of two objects instead of its own:

"""
SERVERS = """\
`serve`, `view` and the page of `label` print their object when the server listens, and continue.
Their object has no exit code.
`serve --check` prints a `InvalidStudyOutput` in any case.
`worker` prints its object when it ends.
"""
GROUPS = ("import", "judge", "tree", "packs")
ENDINGS = ("ErrorOutput", "InvalidStudyOutput")
_WORDS = {"string": "text", "array": "list"}


def name_of(reference: str) -> str:
    """Return the name at the end of a reference."""
    return reference.rpartition("/")[2]


def type_text(node: Mapping[str, Any]) -> str:
    """Return the type of a value in words, e.g. `list of integer`."""
    if "$ref" in node:
        file, _, path = node["$ref"].partition("#")
        name = name_of(path)
        return f"`{name}` of {file}" if file else f"[{name}](#{name.lower()})"
    if "anyOf" in node:
        return " or ".join(type_text(one) for one in node["anyOf"])
    if "enum" in node:
        return " or ".join(f"`{value}`" for value in node["enum"])
    if node.get("type") == "array":
        return f"list of {type_text(node['items'])}" if node.get("items") else "list"
    if isinstance(node.get("additionalProperties"), dict):
        return f"object of {type_text(node['additionalProperties'])}"
    kinds = node.get("type", "any")
    return " or ".join(_WORDS.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def command_of(name: str) -> str:
    """Return the command of a definition, e.g. `import labels` of `import-labels`."""
    group, _, command = name.partition("-")
    return f"{group} {command}" if group in GROUPS else name


def table(definition: Mapping[str, Any]) -> Iterator[str]:
    """Yield the members of an object as a table."""
    required = definition.get("required", ())
    yield "| member | type | meaning |"
    yield "|---|---|---|"
    for name, node in definition["properties"].items():
        absent = "" if name in required else ", may be absent"
        yield f"| `{name}` | {type_text(node)}{absent} | {node.get('description', '')} |"


def commands(schema: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return each command, as its definition is called, with the names of its objects."""
    definitions = schema["$defs"]
    names = [name_of(one["$ref"]) for one in schema["anyOf"]]
    return {name: [name_of(one["$ref"]) for one in definitions[name]["anyOf"]] for name in names}


def page_text(schema: Mapping[str, Any]) -> str:
    """Return the whole page."""
    definitions = schema["$defs"]
    own = {name: [one for one in objects if one not in ENDINGS] for name, objects in commands(schema).items()}
    outputs = dict.fromkeys(one for objects in own.values() for one in objects)
    lines = [HEAD.rstrip("\n")]
    for name in ENDINGS:
        lines += ["", f"### {name}", "", definitions[name]["description"], "", *table(definitions[name])]
    lines += ["", "## Commands", "", SERVERS, "| command | object |", "|---|---|"]
    for name, objects in own.items():
        links = ", ".join(f"[{one}](#{one.lower()})" for one in objects)
        lines.append(f"| `{command_of(name)}` | {links} |")
    lines += ["", "Commands without `--json`:", "", "| command | reason |", "|---|---|"]
    lines += [f"| `{command}` | {reason} |" for command, reason in WITHOUT_JSON.items()]
    lines += ["", "## Objects of commands"]
    for name in outputs:
        lines += ["", f"### {name}", "", definitions[name]["description"], "", *table(definitions[name])]
    lines += ["", "## Parts of objects"]
    for name, definition in sorted(definitions.items()):
        if "properties" in definition and name not in {*outputs, *ENDINGS}:
            lines += ["", f"### {name}", "", definition["description"], "", *table(definition)]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """Write the page, or compare it."""
    page = page_text(json.loads(SCHEMA.read_text(encoding="utf-8")))
    if "--check" not in arguments:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page:
        sys.exit(f"{PAGE.name} is out of date; type  make docs")


if __name__ == "__main__":
    main(sys.argv[1:])
