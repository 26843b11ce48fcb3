"""What annotators asked and seniors settled as words of the guideline: put into a draft by one press."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.annotation.threads import settled_threads
from theodolite.config.labelling import schema_lines
from theodolite.config.labelling.schema_drafts import schema_path
from theodolite.config.yaml_source import read_yaml
from theodolite.domain.annotating.thread import FeedbackThread, ThreadEnd
from theodolite.domain.errors import InputError
from theodolite.web.access import AccessContext, audit
from theodolite.web.annotator.context import annotator_context
from theodolite.web.annotator.questions import worded
from theodolite.web.models import SchemaDraft
from theodolite.web.schemas.drafts import tidied

ACT = "note"
"""What the buttons send, followed by thread and question: `note:THREAD:QUESTION`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledWords:
    """Words of one thread beside the editor.

    Attributes:
        thread: Token of the thread.
        category: Name of the category.
        question: Name of the question that was asked about; empty for none.
        words: What was settled.
        stands: Whether the text of the draft names the thread already.
    """

    thread: str
    category: str
    question: str
    words: str
    stands: bool

    @property
    def title(self) -> str:
        """The category as people read it."""
        return worded(self.category)


def settled_words(access: AccessContext, text: str) -> list[SettledWords]:
    """Return what was settled for the guideline, with whether a draft's text holds it."""
    return [
        SettledWords(
            thread=one.token,
            category=one.anchor.category,
            question=one.anchor.question,
            words=one.text,
            stands=f"# thread {one.token}" in text,
        )
        for one in _threads(access)
    ]


def with_settled(access: AccessContext, draft: SchemaDraft, text: str, place: str) -> str:
    """Return a draft's text with the words of a thread as a note, and write down who put them there.

    Args:
        access: The account, study and membership of the request.
        draft: The draft.
        text: What stands in the editor.
        place: Thread and question, `THREAD:QUESTION`; without a question, the category as a whole.

    Raises:
        InputError: If there is no such thread, or the text has no lines for it.
    """
    token, _, question = place.partition(":")
    thread = next((one for one in _threads(access) if one.token == token), None)
    if thread is None:
        message = "there is no such thread any more"
        raise InputError(message)
    plain = tidied(text)
    source = read_yaml(plain.encode("utf-8"), schema_path(draft.name))
    note = schema_lines.Note(words=" ".join(thread.text.split()), thread=token)
    done = schema_lines.advised(plain, source, thread.anchor.category, question, note)
    audit(access.account, "put settled words into", f"schema {draft.name}", hosted=access.hosted, thread=token)
    return done


def _threads(access: AccessContext) -> list[FeedbackThread]:
    annotator = annotator_context(access)
    return settled_threads(annotator.queue, ThreadEnd.GUIDELINE) if annotator else []
