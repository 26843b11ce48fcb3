"""Slips to print: a code, the square that a phone reads, and a seat; one for each person who walks in."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from io import BytesIO

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from qrcode import QRCode  # type: ignore[import-untyped] # it has no types
from qrcode.image.svg import SvgPathImage  # type: ignore[import-untyped] # likewise

from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.accounts.codes import code_path, words_of
from theodolite.web.models import PersonalCode
from theodolite.web.pages import absolute


@dataclass(frozen=True, slots=True)
class Slip:
    """What stands on one slip."""

    seat: str
    role: str
    words: str
    address: str
    square: str


@allowed(Role.ORGANISER)
def slips(request: HttpRequest, here: Here) -> HttpResponse:
    """Show the slips of everybody who has not used one yet."""
    codes = PersonalCode.objects.select_related("membership").filter(
        membership__hosted=here.hosted, membership__left_at=None, first_used_at=None, withdrawn_at=None
    )
    told = [_slip(request, code) for code in codes.order_by("membership__role", "id")]
    return render(
        request, "web/organiser/slips.html", {"here": here, "slips": told, "door": absolute(request, "/code/")}
    )


def _slip(request: HttpRequest, code: PersonalCode) -> Slip:
    address = absolute(request, code_path(code))
    return Slip(code.seat, code.membership.role, words_of(code), address, square_of(address))


def square_of(text: str) -> str:
    """Return a QR code of a text as the address of a picture that holds itself."""
    code = QRCode(border=2, image_factory=SvgPathImage)
    code.add_data(text)
    held = BytesIO()
    code.make_image().save(held)
    return "data:image/svg+xml;base64," + base64.b64encode(held.getvalue()).decode()
