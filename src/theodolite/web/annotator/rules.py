"""The impartiality rules: what every annotator acknowledges before the first dialogue and has at hand after it."""

from __future__ import annotations

RULES = (
    "Judge what stands in the dialogue, and nothing that you suppose behind it.",
    "Do not ask what the user or the application meant to do; ask what was said.",
    "You are not checking facts: where a question turns on what is true, the reference decides.",
    "Each question stands for itself. An answer to one does not settle another.",
    "Where the dialogue does not tell, say so, if the question allows it; do not guess.",
    "Do not talk with others about a dialogue before its review. Ask through a comment.",
)
"""In the order in which they are shown."""
