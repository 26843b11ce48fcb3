"""Credentials of this machine for clouds: signatures of AWS and access tokens of Google, made for each attempt."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from theodolite.domain.errors import Rejected
from theodolite.gateways.errors import AttemptError
from theodolite.gateways.http_client import HttpRequest

_BEDROCK = "bedrock"
"""Name of the service in signatures."""

_REGION = re.compile(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?amazonaws\.com")

_USUAL_REGION = "us-east-1"

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def _missing(words: str) -> AttemptError:
    return AttemptError(kind=Rejected, words=words)


@dataclass(slots=True)
class AwsSignature:
    """Signature Version 4 by botocore, with the credentials that it finds: environment, profile, container, machine."""

    _session: Any = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def headers(self, request: HttpRequest) -> Mapping[str, str] | AttemptError:
        """Return the signed headers of a request."""
        async with self._lock:  # looking for credentials may take calls
            return await asyncio.to_thread(self._signed, request)

    def _signed(self, request: HttpRequest) -> Mapping[str, str] | AttemptError:
        try:
            from botocore.auth import SigV4Auth
            from botocore.awsrequest import AWSRequest
            from botocore.exceptions import BotoCoreError
            from botocore.session import Session
        except ImportError:
            return _missing("`kind: bedrock` without `key` needs the extra `aws`; type: pip install 'theodolite[aws]'")
        self._session = self._session or Session()
        try:
            result = self._session.get_credentials()
            credentials = None if result is None else result.get_frozen_credentials()
        except BotoCoreError as error:
            return _missing(f"the AWS credentials cannot be used: {error}")
        if credentials is None:
            return _missing("no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
        region = _region_of(request.url) or self._session.get_config_variable("region") or _USUAL_REGION
        signed = AWSRequest(method=request.method, url=request.url, data=request.body, headers=dict(request.headers))
        SigV4Auth(credentials, _BEDROCK, region).add_auth(signed)
        return dict(signed.headers.items())


def _region_of(url: str) -> str:
    match = _REGION.search(urlsplit(url).hostname or "")
    return match[1] if match else ""


@dataclass(slots=True)
class GoogleToken:
    """Access token of Google's Application Default Credentials, renewed before it expires."""

    _credentials: Any = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def headers(self, _request: HttpRequest) -> Mapping[str, str] | AttemptError:
        """Return the header with the token."""
        async with self._lock:
            return await asyncio.to_thread(self._token)

    def _token(self) -> Mapping[str, str] | AttemptError:
        try:
            import google.auth
            from google.auth.exceptions import GoogleAuthError
            from google.auth.transport.requests import Request
        except ImportError:
            return _missing(
                "`kind: vertex` without `key` needs the extra `google`; type: pip install 'theodolite[google]'"
            )
        try:
            if self._credentials is None:
                self._credentials, _ = google.auth.default(scopes=[_SCOPE])
            if not self._credentials.valid:
                self._credentials.refresh(partial(Request(), timeout=10))
        except GoogleAuthError as error:
            advice = "run  gcloud auth application-default login  or set GOOGLE_APPLICATION_CREDENTIALS"
            return _missing(f"no Google credentials: {str(error).partition('.')[0]}; {advice}")
        return {"Authorization": f"Bearer {self._credentials.token}"}
