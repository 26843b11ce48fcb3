"""Completion of the OpenAPI document: descriptions, examples and refusals of each operation and record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from theodolite.web.api.requests import PERMISSIONS, PROBLEM_TYPE, Permission

Json = dict[str, Any]

DESCRIPTION = """\
Studies, runs, dialogues, annotations and results of a Theodolite server.

Every request has the header `Authorization: Bearer TOKEN`; a token permits no more than the roles of its owner.
Lists with `next` have pages: pass `next` as `cursor` until it is null.
Errors are problem details (RFC 9457); every operation may also answer 405 for another method, and 503 while the
database is unavailable. Version 1 only gains fields and operations."""

TAGS = {
    "Studies": "Studies of the owner of the token.",
    "Runs": "Progress, estimate, start and stop of runs.",
    "Dialogues": "Completed dialogues of a run, and those of the annotation queue.",
    "Annotations": "Annotations, tasks of annotators, and labels from other tools.",
    "Results": "Measurements, results and tables.",
    "Submissions": "Applications of teams.",
}
"""Groups of operations, in the order of the document."""

_GROUPS = {
    "Studies": ("list_studies", "read_study"),
    "Runs": ("list_runs", "estimate_run", "read_run", "start_run", "stop_run"),
    "Dialogues": ("list_dialogues", "read_dialogue", "list_queue", "read_queue_item"),
    "Annotations": (
        *("list_annotations", "read_annotation", "next_task", "read_task", "write_answers", "release_task"),
        "import_labels",
    ),
    "Results": (
        *("read_latest_results", "list_measurements", "start_measurement", "read_measurement", "read_results"),
        "read_table",
    ),
    "Submissions": ("list_submissions", "read_own_results"),
}

_PATH_PARTS: Mapping[str, tuple[str, Any]] = {
    "study": ("Id of the study.", "k3v9xw2m"),
    "run": ("Number of the run.", 3),
    "dialogue": ("Label of the dialogue in the run.", "p001"),
    "annotation": ("Id of the annotation.", "0-3f2a9c01b7de"),
    "measurement": ("Id of the measurement.", "m8d2"),
    "submission": ("Id of the submission.", "s5k1"),
    "task": ("Id of the task.", "t6w0"),
    "item": ("Id of a category of a dialogue, from `list_queue`.", "w1p7"),
}
"""Description and example of the parts of addresses."""

_RESULTS = {"format": 1, "study": {"name": "movie-guide"}}

_RAW: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "read_results": (
        "The results; the reference of `results.json` describes the format.",
        {"application/json": _RESULTS},
    ),
    "read_latest_results": (
        "The results; the reference of `results.json` describes the format.",
        {"application/json": _RESULTS},
    ),
    "read_own_results": ("The results on the application of the team.", {"application/json": _RESULTS}),
    "read_table": (
        "The table.",
        {
            "text/csv": "dialogue,application,turn\np001,guide-v2,1\n",
            "application/jsonl": '{"dialogue": "p001", "application": "guide-v2", "turn": 1}\n',
        },
    ),
}
"""Description and examples of responses that are files."""

_SUCCESSES = {
    ("start_run", "200"): "The run is in progress already.",
    ("start_run", "202"): "A process was started.",
    ("start_measurement", "202"): "The measurement continues in the background.",
}
"""Descriptions of successful responses that the record does not describe."""

_REFUSALS = {
    400: "The body is not a JSON document in UTF-8.",
    401: "No valid token: it is missing, unknown, expired or revoked.",
    403: "The token lacks the scope, the account a second factor, or the role a permission of an organiser.",
    404: "There is no such record for the roles of the owner.",
    413: "The body is too large; send it in parts.",
    422: "A parameter or the body is wrong; `errors` names each place.",
    429: "Too many requests; wait for `Retry-After` seconds.",
}

_HEADERS = {401: "WWW-Authenticate", 429: "Retry-After"}


def complete(document: Json) -> Json:
    """Return the document with all descriptions and examples; it is changed in place.

    Raises:
        KeyError: If a field has no example.
    """
    document["info"]["description"] = DESCRIPTION
    document["servers"] = [{"url": "/"}]
    document["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    schemas = document["components"]["schemas"]
    for name in [name for name in schemas if name.endswith("Query")]:
        del schemas[name]  # the parameters of the operations state the same
    for schema in schemas.values():
        if "properties" in schema:
            schema["examples"] = [example_of(schema, schemas)]
    document["paths"] = dict(sorted(document["paths"].items(), key=lambda entry: _order(entry[1])))
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _complete_operation(path, operation, schemas)
    return document


def example_of(schema: Json, schemas: Json) -> Any:
    """Return an example of a schema, composed of those of its fields.

    Raises:
        KeyError: If a field has no example.
    """
    match schema:
        case {"examples": [example, *_]}:
            return example
        case {"$ref": str(reference)}:
            return example_of(schemas[reference.rpartition("/")[2]], schemas)
        case {"anyOf": [first, *_]}:
            return example_of(first, schemas)
        case {"enum": [first, *_]}:
            return first
        case {"type": "array", "items": items}:
            return [example_of(items, schemas)]
        case {"properties": properties}:
            return {name: example_of(value, schemas) for name, value in properties.items()}
    message = f"`{schema.get('title', schema)}` has no example"
    raise KeyError(message)


def _order(operations: Json) -> int:
    names = [name for group in _GROUPS.values() for name in group]
    return min(names.index(operation["operationId"]) for operation in operations.values())


def _complete_operation(path: str, operation: Json, schemas: Json) -> None:
    name = operation["operationId"]
    operation["summary"] = name.replace("_", " ").capitalize()
    operation["tags"] = [group for group, names in _GROUPS.items() if name in names]
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["description"], parameter["example"] = _PATH_PARTS[parameter["name"]]
        else:
            parameter["example"] = example_of(parameter["schema"], schemas)
    for content in operation.get("requestBody", {}).get("content", {}).values():
        content["example"] = example_of(content["schema"], schemas)
    address = path.format(**{part: example for part, (_, example) in _PATH_PARTS.items()})
    for status, response in operation["responses"].items():
        is_success = status.startswith("2")
        response.update(
            _success(name, status, response, schemas)
            if is_success
            else _refusal(int(status), response, PERMISSIONS[name], address)
        )


def _success(name: str, status: str, response: Json, schemas: Json) -> Json:
    if name in _RAW:
        text, examples = _RAW[name]
        (content,) = response["content"].values()
        return {"description": text, "content": {kind: content | {"example": one} for kind, one in examples.items()}}
    (content,) = response["content"].values()
    record = schemas[content["schema"]["$ref"].rpartition("/")[2]]
    content["example"] = example_of(content["schema"], schemas)
    return {"description": _SUCCESSES.get((name, status), record["description"])}


def _refusal(status: int, response: Json, permission: Permission, address: str) -> Json:
    (content,) = response["content"].values()
    text = _REFUSALS.get(status) or f"Conflict: {permission.conflict}."
    example = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": text,
        "instance": address,
    }
    headers = dict(_headers(status))
    return {"description": text, "content": {PROBLEM_TYPE: content | {"example": example}}} | (
        {"headers": headers} if headers else {}
    )


def _headers(status: int) -> Iterator[tuple[str, Json]]:
    if status in _HEADERS:
        yield _HEADERS[status], {"schema": {"type": "string"}}
