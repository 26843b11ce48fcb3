"""The full text of versions, so that a reader sees what was really asked and tested."""

from __future__ import annotations

from theodolite.domain.application import (
    Application,
    AriaClass,
    BodyFormat,
    CodeVersion,
    HttpEndpoint,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.guideline import DefectRule, Example, Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE, Question, ScaleKind

FILES_SHOWN = 40
"""Files of an application's code that are listed."""


def guideline_text(guideline: Guideline) -> str:
    """Return a guideline as its annotators meet it, with its defect rules."""
    parts = [guideline.definition] if guideline.definition else []
    parts += [_question_text(question) for question in guideline.instrument.questions]
    parts.append("Defect rules\n" + "\n".join(f"  {rule.name}: {_rule_text(rule)}" for rule in guideline.defect_rules))
    parts += [_example_text(number, example) for number, example in enumerate(guideline.examples, 1)]
    return "\n\n".join([*parts, f"Version {version_of(guideline)}"])


def _rule_text(rule: DefectRule) -> str:
    among = ", ".join(f"{name} is {value}" for name, value in rule.among.items())
    return f"{rule.condition}{f', among dialogues where {among}' if among else ''}"


def _question_text(question: Question) -> str:
    labels = {label.value: label.meaning for label in question.scale.labels}
    points = [f"  {value}{': ' + labels[value] if labels.get(value) else ''}" for value in question.scale.categories]
    if question.scale.kind is ScaleKind.DECIMALS:
        points = [f"  any number from {question.scale.lowest} to {question.scale.highest}"]
    points += [f"  {UNABLE}"] * question.may_be_unable + [f"  {NOT_APPLICABLE}"] * question.may_not_apply
    asked = f" (asked when {question.when.text})" if question.when else ""
    return "\n".join([f"{question.name}: {question.text}{asked}", *points])


def _example_text(number: int, example: Example) -> str:
    answers = ", ".join(f"{question} = {value}" for question, value in example.answers.items())
    reason = f"\n  because {example.reason}" if example.reason else ""
    return f"Example {number}\n{example.dialogue}\n  {answers}{reason}"


def application_text(application: Application) -> str:
    """Return what is known of an application and how it was reached."""
    parts = [application.description, _connection_text(application)]
    parts += [f"{claim.kind.value.capitalize()}: {claim.text}" for claim in application.claims]
    parts += [f"Mitigation {item.name}: {item.description}".rstrip(": ") for item in application.mitigations]
    return "\n\n".join(part for part in parts if part)


def _connection_text(application: Application) -> str:
    match application.connection:
        case RecordedFile(file=file, sha256=sha256):
            return f"Recorded in the file {file}\nSHA-256 {sha256}"
        case PromptedModel(model=model, system=system):
            return f"The model `{model}` with the system prompt\n{system or '(none)'}"
        case HttpEndpoint(url=url, method=method, body=body, body_as=body_as, reply=reply):
            sent = f"{body}, as a form" if body_as is BodyFormat.FORM else body
            return f"{method} {url}\n{sent}\nThe reply stands at {reply}"
        case PythonCallable(target=target, code=code):
            return f"The Python function {target}{_code_text(code)}"
        case AriaClass(target=target, code=code):
            return f"The class {target} for NIST's dialogue interface{_code_text(code)}"


def _code_text(code: CodeVersion) -> str:
    """Return what runs when the code is called: interpreter, files with their hashes, distributions."""
    files = [f"{sha256[:12]}  {name}" for name, sha256 in sorted(code.files.items())]
    shown = [*files[:FILES_SHOWN], f"and {len(files) - FILES_SHOWN} more files"] if len(files) > FILES_SHOWN else files
    parts = [f"Runs on {code.interpreter}"] if code.interpreter else []
    parts += ["Files, with the beginning of each one's SHA-256", *shown] if shown else []
    parts += [f"With {', '.join(code.distributions)}"] if code.distributions else []
    return "".join(f"\n{part}" for part in parts)
