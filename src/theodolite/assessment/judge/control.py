"""The control question: about the material itself, with an answer that is known.

A judge that reads the material answers it in passing. A judge that copies a
verdict which stands in the material cannot: the word is drawn from all that was
said, so nobody who wrote there knew it, and turns that somebody wrote out as if
they had been held do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theodolite.domain.annotation import Control
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.identity import digest

CONTROL = "check"
"""Key under which a verdict answers the control question."""

_WORDS = (
    "anchor",
    "basket",
    "candle",
    "dolphin",
    "engine",
    "feather",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "magnet",
    "needle",
    "orchard",
    "pepper",
    "quarry",
    "ribbon",
    "saddle",
    "timber",
    "umbrella",
    "valley",
    "walnut",
    "yellow",
    "autumn",
    "bridge",
    "copper",
    "desert",
    "ember",
    "forest",
    "glacier",
    "harbour",
    "ivory",
    "jungle",
    "kernel",
    "lantern",
    "meadow",
    "nickel",
    "oyster",
    "pebble",
    "quiver",
    "raven",
    "silver",
    "tunnel",
    "upland",
    "velvet",
    "willow",
    "zephyr",
    "almond",
    "bottle",
    "cotton",
    "driver",
    "easel",
    "falcon",
    "goblet",
    "helmet",
    "insect",
    "jigsaw",
    "kitten",
    "lemon",
    "mirror",
    "napkin",
    "otter",
    "planet",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlQuestion:
    """What a judge is asked besides, and the right answer.

    Attributes:
        word: A word that stands nowhere in the material.
        last_turn: Number of the last turn.
    """

    word: str
    last_turn: int

    @property
    def answer(self) -> str:
        """The right answer, e.g. `harbour 3`."""
        return f"{self.word} {self.last_turn}"

    @property
    def words(self) -> str:
        """The question as it stands after the material."""
        return (
            f'Control question: the word of this sheet is {self.word}. Answer it under the key "{CONTROL}" with that '
            "word, a space, and the number of the last turn whose header carries the mark."
        )

    def state(self, verdict: Mapping[str, object] | None) -> Control:
        """Return how a verdict answers the question."""
        given = verdict.get(CONTROL) if verdict is not None else None
        if given is None:
            return Control.UNANSWERED
        said = " ".join(str(given).casefold().replace(",", " ").split())
        return Control.PASSED if said == self.answer else Control.FAILED


def control_question(dialogue: Dialogue, replicate: int) -> ControlQuestion:
    """Return the control question of one reading of a dialogue."""
    said = [dialogue.material, *(side for turn in dialogue.turns for side in (turn.prompt, turn.response))]
    lowered = "\n".join(said).casefold()
    start = int(digest("control", str(replicate), *said)[:8], 16)
    order = (_WORDS[(start + step) % len(_WORDS)] for step in range(len(_WORDS)))
    # A dialogue that holds all of these words gets the one that is drawn for it all the same.
    word = next((each for each in order if each not in lowered), _WORDS[start % len(_WORDS)])
    return ControlQuestion(word=word, last_turn=dialogue.turns[-1].number if dialogue.turns else 0)
