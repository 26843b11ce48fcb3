"""Languages of pages: what somebody wants to read in, and what there is.

A person's own choice comes first, then the invitation's, then what the browser asks for. On
pages of a study the browser is heard only on languages that the study can be read in: nobody
meets pages in one language around a study in another without having asked for it here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.forms import BaseForm, ChoiceField
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

from theodolite.domain.text import best_language
from theodolite.web.models import Account, Comfort

CHOSEN = "language"
"""Name under which a browser's session holds what its person has chosen."""

PLAIN = "en"
"""Language of pages that nobody has translated."""

_TRANSLATED = ("theodolite.web.accounts.", "theodolite.web.tester.", "theodolite.web.middleware", "allauth.", "django.")
"""Modules whose views show pages that there are catalogues for."""


def page_languages() -> tuple[str, ...]:
    """Return the languages that pages can be read in; tags."""
    return tuple(code for code, _ in settings.LANGUAGES)


def language_name(code: str) -> str:
    """Return a language's own name, e.g. `Deutsch`; the tag if unknown."""
    with suppress(KeyError):
        return str(translation.get_language_info(code)["name_local"])
    return code


def offer_languages(form: BaseForm, languages: Sequence[str]) -> None:
    """Set the languages of a form field `language`; with a single language the field is removed."""
    if len(languages) < 2:
        del form.fields["language"]
        return
    named = [(code, language_name(code)) for code in languages]
    cast("ChoiceField", form.fields["language"]).choices = [("", "as set in the browser"), *named]


def chosen(request: HttpRequest) -> str:
    """Return the language that somebody has chosen, or was invited in; empty for none."""
    session = getattr(request, "session", None)
    return str(session.get(CHOSEN, "")) if session is not None else ""


def asked_for(request: HttpRequest) -> tuple[str, ...]:
    """Return the languages that a browser asks for, the dearest first."""
    header = request.headers.get("Accept-Language", "")
    return tuple(tag for tag, _ in parse_accept_lang_header(header.lower()[:500]) if tag != "*")


def read_language(request: HttpRequest, offered: tuple[str, ...]) -> str:
    """Return the language in which somebody reads a study; its own where nothing else suits.

    Args:
        request: Who asks.
        offered: Languages of the study, its own first.
    """
    return best_language((chosen(request), *asked_for(request)), offered) or offered[0]


def speak(request: HttpRequest, offered: tuple[str, ...]) -> str:
    """Activate the person's language for a page, and return the language in which the study is read."""
    reading = read_language(request, offered)
    translation.activate(best_language(filter(None, (chosen(request), reading)), page_languages()) or PLAIN)
    return reading


def choose(request: HttpRequest, language: str) -> None:
    """Store the chosen language in the browser session; an empty choice changes nothing."""
    if language:
        request.session[CHOSEN] = language
    else:
        request.session.pop(CHOSEN, None)


class SpokenPages:
    """Middleware that lets pages be in the language of who asks, as far as they are translated."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Store the next handler."""
        self._answer = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer; what one request speaks, the next one on the thread does not."""
        with translation.override(PLAIN):
            return self._answer(request)

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: object) -> None:
        """Speak the language of who asks where the page can, unless it belongs to a study, which knows more."""
        if "study" in (request.resolver_match.kwargs if request.resolver_match else {}):
            return
        if getattr(view, "__module__", "").startswith(_TRANSLATED):
            preferred = (chosen(request), *asked_for(request))
            translation.activate(best_language(filter(None, preferred), page_languages()) or PLAIN)


def _on_sign_in(request: HttpRequest, user: object, **_: object) -> None:
    """Use the language of the display settings; else the language of the invitation."""
    if not isinstance(user, Account):
        return
    comfort = Comfort.objects.filter(account=user).exclude(language="").values_list("language", flat=True).first()
    if comfort:
        choose(request, comfort)
    elif chosen(request):
        Comfort.objects.update_or_create(account=user, defaults={"language": chosen(request)})


def listen() -> None:
    """Connect to the sign-in signal."""
    user_logged_in.connect(_on_sign_in, dispatch_uid="theodolite.web.languages")
