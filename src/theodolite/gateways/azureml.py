"""Azure Machine Learning: offline validation and submission of a pipeline by azure-ai-ml."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from theodolite.domain.errors import InputError, StorageUnavailable

EXTRA = "pip install 'theodolite[azureml]'"
"""The command that installs azure-ai-ml and its login."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureWorkspace:
    """A workspace of Azure Machine Learning; empty names are read from `config.json`.

    Attributes:
        subscription: Id of the subscription.
        resource_group: Name of the resource group.
        name: Name of the workspace.
    """

    subscription: str = ""
    resource_group: str = ""
    name: str = ""


def has_azureml() -> bool:
    """Whether azure-ai-ml is installed."""
    return find_spec("azure") is not None and find_spec("azure.ai.ml") is not None


def validate_pipeline(path: Path) -> tuple[str, ...]:
    """Return the errors that azure-ai-ml's offline validation finds in a pipeline; empty if there are none.

    Args:
        path: The pipeline file.

    Raises:
        InputError: If azure-ai-ml is not installed.
    """
    with _client_library():
        from azure.ai.ml import load_job
        from azure.ai.ml.exceptions import MlException
        from marshmallow import ValidationError

        try:
            # Private, as the public validation of jobs asks the workspace for the compute.
            job: Any = load_job(path)
            result = job._validate()  # noqa: SLF001
        except (MlException, ValidationError) as error:
            return (_sentence(error),)
        return tuple(f"{name}: {message}" for name, message in sorted(result.error_messages.items()))


def submit_pipeline(path: Path, workspace: AzureWorkspace) -> str:
    """Send a pipeline to a workspace and return the address of its page.

    Args:
        path: The pipeline file.
        workspace: The workspace.

    Raises:
        InputError: If azure-ai-ml is not installed, or the workspace is not named.
        StorageUnavailable: If the login or the workspace refuses the pipeline.
    """
    with _client_library():
        from azure.ai.ml import load_job
        from azure.core.exceptions import AzureError

        try:
            client = _client(path, workspace)
            return str(client.jobs.create_or_update(load_job(path)).studio_url)
        except AzureError as error:
            message = f"Azure Machine Learning did not take the pipeline: {_sentence(error)}"
            raise StorageUnavailable(message) from error


def _client(path: Path, workspace: AzureWorkspace) -> Any:
    from azure.ai.ml import MLClient
    from azure.ai.ml.exceptions import ValidationException
    from azure.identity import DefaultAzureCredential

    names = (workspace.subscription, workspace.resource_group, workspace.name)
    if all(names):
        return MLClient(DefaultAzureCredential(), *names)
    if any(names):
        message = "--subscription, --resource-group and --workspace name a workspace together; give all three or none"
        raise InputError(message)
    try:
        return MLClient.from_config(DefaultAzureCredential(), path=path.parent)
    except ValidationException as error:
        message = (
            f"no workspace is named: give --subscription, --resource-group and --workspace, or put the `config.json` of"
            f" the workspace into `{path.parent}`"
        )
        raise InputError(message) from error


@contextmanager
def _client_library() -> Iterator[None]:
    """Check that azure-ai-ml is installed, and silence its log and warnings about itself.

    Raises:
        InputError: If it is not installed.
    """
    if not has_azureml():
        message = f"this needs azure-ai-ml, which is not installed; try  {EXTRA}"
        raise InputError(message)
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations among its own packages
            yield
    finally:
        logging.disable(before)


_LONGEST = 600


def _sentence(error: BaseException) -> str:
    text = " ".join(str(getattr(error, "message", "") or error).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
