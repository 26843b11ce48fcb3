"""Choices: keys of a study with one word as value.

They are apart from the nouns that use them, so that the shape of a study file
is known before the code of unused study parts is loaded.
"""

from __future__ import annotations

from enum import StrEnum


class TransformForm(StrEnum):
    """Function of a transform node."""

    REVERSE = "reverse"
    """Turns a scale round: the lowest value becomes the highest."""
    RESCALE = "rescale"
    """Moves values to another range, evenly."""
    RECODE = "recode"
    """Puts one value in another's place, by a list."""


class Weighing(StrEnum):
    """Unit of equal weight if a node summarises single answers."""

    DIALOGUE = "dialogue"
    """Each dialogue weighs one, however many answers it has."""
    ANSWER = "answer"
    """Each answer weighs one."""


class Per(StrEnum):
    """For collapsed answers with one value left."""

    DIALOGUE = "dialogue"
    TURN = "turn"
    ANNOTATOR = "annotator"


class ImpactSide(StrEnum):
    """Which kind of impact a node is about; the two are never netted."""

    NEGATIVE = "negative"
    POSITIVE = "positive"


class Assignment(StrEnum):
    """Applications for one tester."""

    WITHIN_SUBJECTS = "within_subjects"
    BETWEEN_SUBJECTS = "between_subjects"


class AiType(StrEnum):
    """Kind of system that a series evaluates."""

    GENERATIVE = "generative"
    PREDICTIVE = "predictive"


class UserType(StrEnum):
    """Types of users that a series may call for."""

    ADVERSARIAL = "adversarial"
    EVERYDAY = "everyday"
    DOMAIN_EXPERT = "domain expert"


class TopicWeight(StrEnum):
    """Burden of a topic for readers."""

    LIGHT = "light"
    MODERATE = "moderate"
    HEAVY = "heavy"

    @property
    def rank(self) -> int:
        """Its place among the weights: 1 for the lightest."""
        return list(TopicWeight).index(self) + 1


class RateCorrection(StrEnum):
    """How a judge's rate is corrected."""

    VERDICT_STRATIFIED = "verdict-stratified"
    ROGAN_GLADEN = "rogan-gladen"
    NONE = "none"


class MeanCorrection(StrEnum):
    """How the mean of a judge's scores is corrected."""

    POWERED = "ppi++"
    NONE = "none"


class Identification(StrEnum):
    """Evidence that a risk has materialised."""

    DIALOGUE = "dialogue"
    QUESTIONNAIRE = "questionnaire"
    BOTH = "questionnaire and dialogue"


class Impact(StrEnum):
    """Direction of an impact."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    BOTH = "both"
    NEITHER = "neither"
