"""Help during an event: a tester asks the organisers and reads their answers."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from theodolite.web.access import audit
from theodolite.web.support import LONGEST_MESSAGE, ask_organisers, messages_for
from theodolite.web.tester.context import TesterContext, for_testers


@for_testers()
def help_page(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask the organisers, and list questions and answers; the clock of the session continues."""
    text, error = request.POST.get("text", "").strip(), ""
    if request.method == "POST":
        if not text or len(text) > LONGEST_MESSAGE:
            error = _("Enter a question of at most %(most)s characters.") % {"most": f"{LONGEST_MESSAGE:,}"}
        elif ask_organisers(tester.access.membership, text, _location(tester)):
            audit(request.user, "asked the organisers", hosted=tester.access.hosted)
            messages.success(request, _("Your question was sent to the organisers."))
            return redirect("tester:help", study=tester.access.hosted.token)
        else:
            error = _("You have sent as many questions as one person may send.")
    context = {
        "access": tester.access,
        "lines": messages_for(tester.access.membership),
        "error": error,
        "text": text,
        "most": LONGEST_MESSAGE,
    }
    return render(request, "web/tester/help.html", context, status=422 if error else 200)


def _location(tester: TesterContext) -> str:
    """Return the session, dialogue and turn in which a tester is, in words; empty outside of sessions."""
    session = next((session for session in tester.sessions if not session.is_over), None)
    if session is None:
        return ""
    dialogues = tester.event.dialogues.of_session(session.key)
    if not dialogues:
        return f"session {session.place + 1}"
    return f"session {session.place + 1}, dialogue {len(dialogues)}, turn {max(len(dialogues[-1].turns), 1)}"
