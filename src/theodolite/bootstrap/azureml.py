"""Files of an Azure Machine Learning pipeline for a study: command components, parallel steps, environment."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from importlib.resources.abc import Traversable
from pathlib import Path

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.reports import REPORT, RESULTS
from theodolite.config.azure_pipelines import ENDING, check_pipeline
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.permissions import WORKSPACE_NAME
from theodolite.config.required_access import named_keys
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.errors import InputError, StorageUnavailable
from theodolite.domain.identity import version_of
from theodolite.gateways.azureml import AzureWorkspace, has_azureml, submit_pipeline, validate_pipeline

PIPELINES = ("pipeline.yml", "pipeline-parallel.yml")
"""Pipeline files: one step per stage, and parallel steps."""

IMAGE = "mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu22.04:latest"
"""Base image of the environment, from Microsoft's registry."""

_LEFT_OUT = shutil.ignore_patterns(WORKSPACE_NAME, RESULTS, REPORT, "__pycache__", ".git", ".venv")


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineOptions:
    """Size and target of a pipeline.

    Attributes:
        shards: Parts of the plan in the parallel variant; count.
        instances: Nodes of the parallel steps; count.
        compute: Name of the compute cluster.
        concurrency: Concurrent calls of a step; count.
    """

    shards: int = 8
    instances: int = 2
    compute: str = "cpu-cluster"
    concurrency: int = 32


def write_pipeline(loaded: LoadedStudy, options: PipelineOptions, out: Path) -> tuple[Path, ...]:
    """Write the pipelines of a study and return their files.

    Args:
        loaded: The study.
        options: Size and place.
        out: Folder; created if missing; files of an earlier call are replaced.

    Raises:
        InputError: If the study reads files outside its folder, or the folder is inside the study's.
        StorageUnavailable: If a file cannot be written.
    """
    if out.resolve().is_relative_to(loaded.folder.resolve()):
        message = f"`{out}` is inside the study's folder, which is copied there; name a folder beside it with --out"
        raise InputError(message)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{1,31}", options.compute):
        message = f"a compute cluster has 2 to 32 letters, digits and dashes; got `{options.compute}`"
        raise InputError(message)
    if options.instances > options.shards:
        message = f"expected at most {options.shards} instances, one per shard; got {options.instances}"
        raise InputError(message)
    _copy_study(loaded, out / "study")
    words = _words_of(loaded, options)
    for name, text in _templates(resources.files("theodolite.resources") / "azureml"):
        write_whole(out / name, _filled(text, words))
    shutil.rmtree(out / "shards", ignore_errors=True)
    for number in range(1, options.shards + 1):
        write_whole(out / "shards" / f"{number}-of-{options.shards}", f"{number}/{options.shards}\n")
    return tuple(out / name for name in PIPELINES)


def check_written(pipeline: Path) -> str:
    """Check a pipeline by the linter and, if it is installed, by azure-ai-ml; return the names of the checkers.

    Raises:
        InputError: If it has errors; lists all of them.
    """
    check_pipeline(pipeline)
    if not has_azureml():
        return "linter; azure-ai-ml is not installed"
    if problems := validate_pipeline(pipeline):
        lines = "\n".join(f"  {problem}" for problem in problems)
        message = f"azure-ai-ml finds errors in `{pipeline}`:\n{lines}\n{ENDING}"
        raise InputError(message)
    return "linter and azure-ai-ml"


def submit(pipeline: Path, *, subscription: str, resource_group: str, workspace: str) -> str:
    """Send a pipeline to a workspace and return the address of its page.

    Raises:
        InputError: If azure-ai-ml is not installed, or the workspace is not named.
        StorageUnavailable: If the login or the workspace refuses the pipeline.
    """
    target = AzureWorkspace(subscription=subscription, resource_group=resource_group, name=workspace)
    return submit_pipeline(pipeline, target)


def _copy_study(loaded: LoadedStudy, target: Path) -> None:
    """Copy the study's folder, and require that the copy is the same study.

    Raises:
        InputError: If it is not.
    """
    try:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(loaded.folder, target, ignore=_LEFT_OUT)
    except (OSError, shutil.Error) as error:
        message = f"the study cannot be copied to `{target}`: {error}"
        raise StorageUnavailable(message) from error
    file = target / "study.yaml"
    if not file.is_file():
        message = f"the pipeline needs a study folder with `study.yaml`; `{loaded.folder}` has none"
        raise InputError(message)
    advice = "move the files that it reads into its folder, since the steps receive that folder alone"
    try:
        copied = load_study(file, resolver=resource_resolver())
    except InvalidStudyError as error:
        message = f"the study does not load from a copy of its folder; {advice}\n{error}"
        raise InputError(message) from error
    if version_of(copied.study) != version_of(loaded.study):
        message = f"the copy of the study's folder is another version of the study; {advice}"
        raise InputError(message)


def _words_of(loaded: LoadedStudy, options: PipelineOptions) -> dict[str, str]:
    """Return the replacements of the upper-case words in the templates."""
    keys = sorted({use.variable for use in named_keys(loaded.study)})
    secrets = (
        f"The steps `generate` and `evaluate` read {', '.join(f'`{key}`' for key in keys)}."
        " Set them from a key vault in the environment of the compute, or under `environment_variables` of the steps"
        " when you send the pipeline."
    )
    return {
        "PER_INSTANCE": str(max(1, -(-options.shards // options.instances))),
        "CONCURRENCY": str(options.concurrency),
        "EXPERIMENT": "theodolite-" + re.sub(r"[^\w-]+", "-", loaded.study.name),
        "INSTANCES": str(options.instances),
        "COMPUTE": options.compute,
        "VERSION": version("theodolite"),
        "SHARDS": str(options.shards),
        "PYTHON": f"{sys.version_info.major}.{sys.version_info.minor}",
        "STUDY": re.sub(r'["\\\n]', "", loaded.study.name),
        "IMAGE": IMAGE,
        "KEYS": secrets if keys else "The study needs no keys.",
    }


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(rf"\b({'|'.join(words)})\b", lambda match: words[match[1]], text)


def _templates(folder: Traversable, within: str = "") -> Iterator[tuple[str, str]]:
    """Yield names and texts of the templates."""
    for entry in folder.iterdir():
        name = f"{within}{entry.name}"
        if entry.is_file():
            yield name, entry.read_text(encoding="utf-8")
        elif entry.name != "__pycache__":
            yield from _templates(entry, f"{name}/")
