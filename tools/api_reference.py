"""Write docs/reference/rest-api.md from the OpenAPI document of the server.

python tools/api_reference.py           writes the page
python tools/api_reference.py --check   exits with 1 if the page is out of date
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "rest-api.md"
HEAD = """\
# REST API

This page is made by `make docs` from the OpenAPI document of the server, which is at `/api/v1/openapi.json`.
[Use the API](../how-to/use-the-api.md) shows tokens, pages and errors by example.
"""

Json = Mapping[str, Any]


def document() -> Json:
    """Return the OpenAPI document."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "theodolite.bootstrap.settings")
    import django

    django.setup()
    from theodolite.web.api.operations import openapi_document

    return openapi_document()


def type_of(schema: Json) -> str:
    """Return the type of a value in words."""
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            text = f"[{name}](#{name.lower()})"
        case {"anyOf": list(parts)} | {"allOf": list(parts)}:
            text = " or ".join(map(type_of, parts))
        case {"enum": list(values)}:
            text = ", ".join(f"`{value}`" for value in values)
        case {"type": "array", "items": part}:
            text = f"list of {type_of(part)}"
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
    success = next(status for status in entry["responses"] if status.startswith("2"))
    (content,) = entry["responses"][success]["content"].values()
    yield f"### `{method.upper()} {path}`\n"
    yield f"{entry['description']}  "
    yield f"{entry['x-permission']}  "
    yield f"Response {success}: {type_of(content['schema'])}.\n"
    if body := entry.get("requestBody"):
        (sent,) = body["content"].values()
        yield f"Body: {type_of(sent['schema'])}, as JSON.\n"
    queries = [parameter for parameter in entry.get("parameters", ()) if parameter["in"] == "query"]
    if queries:
        yield "| parameter | type | meaning |\n|---|---|---|"
        for parameter in queries:
            schema = parameter["schema"]
            name = schema.get("$ref", "").rpartition("/")[2]
            kind = type_of(schemas[name]) if name else type_of(_named(schema, schemas))
            meaning = schema.get("description", "")
            limits = limits_of(schema)
            yield f"| `{parameter['name']}` | {kind} | {meaning}{f' ({limits})' if limits else ''} |"
        yield ""


def _named(schema: Json, schemas: Json) -> Json:
    """Return a schema with references to lists of values resolved."""
    parts = [
        schemas[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
        for part in schema.get("anyOf", schema.get("allOf", ()))
        if part.get("type") != "null"
    ]
    return parts[0] if len(parts) == 1 else schema


def record(name: str, schema: Json) -> Iterator[str]:
    """Yield the lines about one record."""
    yield f"### {name}\n\n{schema.get('description', '')}\n"
    yield "| field | type | meaning |\n|---|---|---|"
    for field, value in schema["properties"].items():
        yield f"| `{field}` | {type_of(value).replace('null', '`null`')} | {value.get('description', '')} |"
    yield ""


def reference(content: Json) -> str:
    """Return the whole page."""
    schemas = content["components"]["schemas"]
    lines = [HEAD, "## Operations\n"]
    for path, methods in content["paths"].items():
        for method, entry in methods.items():
            lines += operation(method, path, entry, schemas)
    refusals = "400, 401, 403, 404, 409, 413, 422 or 429"
    lines.append(f"Every operation may also answer {refusals} with a [ProblemDetails](#problemdetails).\n")
    lines.append("## Records\n")
    for name, schema in sorted(schemas.items()):
        if "properties" in schema and not name.endswith("Query"):
            lines += record(name, schema)
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
