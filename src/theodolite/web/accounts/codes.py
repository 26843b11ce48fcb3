"""Personal codes: some words on a printed slip that let one person in, without e-mail or password."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from theodolite.domain.errors import Conflict
from theodolite.domain.people.role import Role
from theodolite.web.accounts.words import digest_of, words_for
from theodolite.web.audit import audit
from theodolite.web.models import Account, HostedStudy, Membership, PersonalCode

WALK_IN = (Role.RED_TEAMER, Role.FIELD_TESTER, Role.ANNOTATOR)
"""Roles that a code may open; the others see more than a slip of paper should guard."""

_CODE = "code"


@transaction.atomic
def hand_out_codes(by: Account, hosted: HostedStudy, role: Role, seats: Sequence[str]) -> tuple[PersonalCode, ...]:
    """Make a person with a code for each seat.

    Args:
        by: Who hands them out.
        hosted: The study.
        role: One of `WALK_IN`.
        seats: What to call each seat; an empty text for none.

    Returns:
        Codes in the order of the seats; `words_of` is what to print, `code_path` what a phone reads.

    Raises:
        Conflict: If the role is none that a code may open.
    """
    _refuse_much(role)
    codes = tuple(
        give_code(Membership.objects.create(account=_nobody(seat), hosted=hosted, role=role.value), seat=seat)
        for seat in seats
    )
    audit(by, "handed out codes", f"study {hosted.token}", hosted=hosted, role=role.value, n=len(codes))
    return codes


def give_code(membership: Membership, *, seat: str = "") -> PersonalCode:
    """Return a new code for a person; an earlier one opens nothing any more.

    Raises:
        Conflict: If the role is none that a code may open.
    """
    _refuse_much(membership.as_role)
    earlier = PersonalCode.objects.filter(membership=membership).first()
    code = earlier or PersonalCode(membership=membership)
    code.number = earlier.number + 1 if earlier else 1
    code.seat = seat or code.seat
    code.withdrawn_at = None
    code.digest = digest_of(_CODE, words_of(code))
    code.save()
    return code


def words_of(code: PersonalCode) -> str:
    """Return the words of a code, to be printed."""
    return words_for(_CODE, f"{code.token}.{code.number}")


def code_path(code: PersonalCode) -> str:
    """Return the path that a phone is led to by the printed square: the form with the words filled in."""
    return reverse("code", args=[words_of(code)])


@transaction.atomic
def withdraw_code(by: Account, code: PersonalCode) -> None:
    """Let a code open nothing any more."""
    code.withdrawn_at = timezone.now()
    code.save(update_fields=["withdrawn_at"])
    audit(by, "withdrew code", f"code {code.token}", hosted=code.membership.hosted)


@transaction.atomic
def come_in(words: str) -> Membership | None:
    """Return who comes in by some words; None where they open nothing."""
    code = (
        PersonalCode.objects.select_related("membership__account", "membership__hosted")
        .filter(digest=digest_of(_CODE, words), withdrawn_at=None, membership__left_at=None)
        .filter(membership__account__is_active=True)
        .first()
    )
    if code is None:
        return None
    if code.first_used_at is None:
        code.first_used_at = timezone.now()
        code.save(update_fields=["first_used_at"])
    audit(code.membership.account, "came in by code", f"code {code.token}", hosted=code.membership.hosted)
    return code.membership


def _nobody(seat: str) -> Account:
    return Account.objects.create_user(name=f"Seat {seat}" if seat else "")


def _refuse_much(role: Role) -> None:
    if role not in WALK_IN:
        message = f"a code opens {', '.join(WALK_IN)}; `{role}` sees more, so invite the person by link"
        raise Conflict(message)
