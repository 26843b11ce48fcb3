"""Write docs/reference/rest-api.md from the OpenAPI document of the server.

python tools/api_reference.py           writes the page
python tools/api_reference.py --check   exits with 1 if the page is out of date
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "rest-api.md"
HEAD = """\
# REST API

This page is made by `make docs` from the OpenAPI document of the server, which is at `/api/v1/openapi.json`.
[Use the API](../how-to/use-the-api.md) shows tokens, pages and errors by example, and
[Control runs from a program](../how-to/control-runs-from-a-program.md) the operations of runs.
"""

Json = Mapping[str, Any]


def document() -> Json:
    """Return the OpenAPI document."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "theodolite.bootstrap.settings")
    import django

    django.setup()
    from theodolite.web.api.operations import openapi_document

    return openapi_document()


def type_of(schema: Json, schemas: Json) -> str:
    """Return the type of a value in words."""
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            is_record = "properties" in schemas[name]
            text = f"[{name}](#{name.lower()})" if is_record else type_of(schemas[name], schemas)
        case {"anyOf": list(parts)} | {"allOf": list(parts)}:
            text = " or ".join(type_of(part, schemas) for part in parts)
        case {"enum": list(values)}:
            text = ", ".join(f"`{value}`" for value in values)
        case {"type": "array", "items": part}:
            text = f"list of {type_of(part, schemas)}"
        case _:
            text = str(schema.get("format") or schema.get("type") or "any")
    return text


def limits_of(schema: Json) -> str:
    """Return default and limits of a parameter."""
    limits = [
        f"{word} {schema[key]}" for key, word in (("minimum", "at least"), ("maximum", "at most")) if key in schema
    ]
    default = schema.get("default")
    return ", ".join([*limits, *([f"default `{default}`"] if default not in {None, ""} else [])])


def operation(method: str, path: str, entry: Json, schemas: Json) -> Iterator[str]:
    """Yield the lines about one operation."""
    yield f"### `{method.upper()} {path}`\n"
    yield " ".join(entry["description"].split()) + "  "
    yield f"{entry['x-permission']}  "
    yield from _successes(entry, schemas)
    refusals = ", ".join(status for status in entry["responses"] if not status.startswith("2"))
    yield f"Errors: {refusals}.{_conflict(entry)}\n"
    if body := entry.get("requestBody"):
        (sent,) = body["content"].values()
        yield f"Body: {type_of(sent['schema'], schemas)}, as JSON:\n"
        yield f"```json\n{json.dumps(sent['example'], indent=2)}\n```\n"
    queries = [parameter for parameter in entry.get("parameters", ()) if parameter["in"] == "query"]
    if queries:
        yield "| parameter | type | meaning | example |\n|---|---|---|---|"
        for parameter in queries:
            schema = parameter["schema"]
            kind = type_of(_named(schema, schemas), schemas)
            limits = limits_of(schema)
            meaning = parameter["description"] + (f" ({limits})" if limits else "")
            yield f"| `{parameter['name']}` | {kind} | {meaning} | {_shown(parameter['example'])} |"
        yield ""


def _successes(entry: Json, schemas: Json) -> Iterator[str]:
    """Yield a line for each successful response."""
    for status, response in entry["responses"].items():
        if status.startswith("2"):
            (content, *_) = response["content"].values()
            kinds = " or ".join(f"`{kind}`" for kind in response["content"] if kind != "application/json")
            reference = content["schema"].get("$ref", "").rpartition("/")[2]
            is_known = bool(reference) and response["description"] == schemas[reference]["description"]
            more = "" if is_known else f" {response['description']}"
            yield f"Response {status}: {kinds or type_of(content['schema'], schemas)}.{more}  "


def _conflict(entry: Json) -> str:
    conflict = entry["responses"].get("409")
    return f" 409: {conflict['description'].partition(': ')[2]}" if conflict else ""


def _shown(example: Any) -> str:
    """Return an example as a cell of a table; empty for records, which have examples of their own."""
    if example in ("", [], {}, None) or (isinstance(example, list) and isinstance(example[0], dict)):
        return ""
    return f"`{json.dumps(example, ensure_ascii=False)}`"


def _named(schema: Json, schemas: Json) -> Json:
    """Return a schema with references to lists of values resolved."""
    parts = [
        schemas[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
        for part in schema.get("anyOf", schema.get("allOf", ()))
        if part.get("type") != "null"
    ]
    return parts[0] if len(parts) == 1 else schema


def record(name: str, schema: Json, schemas: Json) -> Iterator[str]:
    """Yield the lines about one record."""
    yield f"### {name}\n\n{schema.get('description', '')}\n"
    yield "| field | type | meaning | example |\n|---|---|---|---|"
    (example,) = schema["examples"]
    for field, value in schema["properties"].items():
        shown = "" if isinstance(example[field], dict) and "examples" not in value else _shown(example[field])
        yield f"| `{field}` | {type_of(value, schemas).replace('null', '`null`')} | {value['description']} | {shown} |"
    yield ""


def errors(content: Json) -> Iterator[str]:
    """Yield the lines about refused requests."""
    texts: dict[str, str] = {}
    for methods in content["paths"].values():
        for entry in methods.values():
            texts |= {status: response["description"] for status, response in entry["responses"].items()}
    texts["409"] = "The state of the study refuses the request; each operation states the reason."
    texts |= {"405": "The operation has another method.", "503": "The database is unavailable; try again."}
    yield "## Errors\n"
    yield "Every error is a [ProblemDetails](#problemdetails) of the type `application/problem+json`.\n"
    yield "| status | meaning |\n|---|---|"
    yield from (f"| {status} | {text} |" for status, text in sorted(texts.items()) if status > "3")
    yield ""


def reference(content: Json) -> str:
    """Return the whole page."""
    schemas = content["components"]["schemas"]
    lines = [HEAD]
    for tag in content["tags"]:
        lines.append(f"## {tag['name']}\n\n{tag['description']}\n")
        for path, methods in content["paths"].items():
            for method, entry in methods.items():
                if entry["tags"] == [tag["name"]]:
                    lines += operation(method, path, entry, schemas)
    lines += errors(content)
    lines.append("## Records\n")
    for name, schema in sorted(schemas.items()):
        if "properties" in schema:
            lines += record(name, schema, schemas)
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Write the page, or compare it."""
    page = reference(document())
    if "--check" not in arguments:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page:
        sys.exit(f"{PAGE.name} is out of date; type  make docs")


if __name__ == "__main__":
    main(sys.argv[1:])
