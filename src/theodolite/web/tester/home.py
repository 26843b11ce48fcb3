"""Where testers begin, and begin again: led to what comes next."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from theodolite.testing.steps import Step
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.visit import Visit


@for_testers(*Step)
def home(_request: HttpRequest, visit: Visit) -> HttpResponse:
    """Lead a tester to the next step."""
    return redirect(visit.address(visit.upcoming()))
