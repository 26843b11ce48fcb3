"""Two applications that nobody wrote for this study, each reached by one function.

`eliza` is Joseph Weizenbaum's program of 1966 as NLTK ships it: rules, a mirror of
what one says, no documents. `librarian` is a Haystack pipeline that finds the
paragraph of an installed document which fits a question best (BM25); here the
documents are the licence texts that every Debian machine has. Neither calls
a model or a network. Only the few lines below are ours.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack import Document, Pipeline  # noqa: E402 - the setting above must come first
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever  # noqa: E402
from haystack.document_stores.in_memory import InMemoryDocumentStore  # noqa: E402
from nltk.chat.eliza import eliza_chatbot  # noqa: E402

SHELF = Path("/usr/share/common-licenses")
"""Where Debian and its relatives keep licence texts; name another folder of plain texts elsewhere."""

NOTHING = "I have found nothing about that."


def eliza(prompt: str) -> str:
    """Return what ELIZA answers; she draws among fitting phrases, so her words differ from run to run."""
    return eliza_chatbot.respond(prompt.strip())


def librarian(prompt: str) -> str:
    """Return the paragraph that fits best, with the name of its document."""
    found = _pipeline().run({"retriever": {"query": prompt, "top_k": 1}})["retriever"]["documents"]
    return f"{found[0].meta['file']}: {found[0].content}" if found else NOTHING


@cache
def _pipeline() -> Pipeline:
    texts = sorted(path for path in SHELF.iterdir() if path.is_file() and not path.is_symlink())
    store = InMemoryDocumentStore()
    store.write_documents([document for path in texts for document in _paragraphs(path)])
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(document_store=store))
    return pipeline


def _paragraphs(path: Path) -> list[Document]:
    parts = re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace"))
    whole = (" ".join(part.split()) for part in parts)
    return [Document(content=part, meta={"file": path.name}) for part in dict.fromkeys(whole) if len(part) > 80]
