"""Choices: keys of a study with one word as value.

They are separate from the records that use them, so that the schema of a study file
is known before the code of unused study parts is loaded.
"""

from __future__ import annotations

from enum import StrEnum


class TransformForm(StrEnum):
    """Function of a transform node."""

    REVERSE = "reverse"
    """Reverses a scale: the lowest value becomes the highest."""
    RESCALE = "rescale"
    """Maps values to another range linearly."""
    RECODE = "recode"
    """Replaces values by a table."""


class Weighing(StrEnum):
    """Unit of equal weight if a node summarises single answers."""

    DIALOGUE = "dialogue"
    """Each dialogue has weight one, regardless of its number of answers."""
    ANSWER = "answer"
    """Each answer has weight one."""


class Per(StrEnum):
    """For collapsed answers with one value left."""

    DIALOGUE = "dialogue"
    TURN = "turn"
    ANNOTATOR = "annotator"


class ImpactSide(StrEnum):
    """Kind of impact of a node; positive and negative impacts are never offset against each other."""

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
    """Types of users that a series may request."""

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
        """Its rank among the weights: 1 for the lightest."""
        return list(TopicWeight).index(self) + 1


class RateCorrection(StrEnum):
    """Correction of a judge's rate."""

    VERDICT_STRATIFIED = "verdict-stratified"
    ROGAN_GLADEN = "rogan-gladen"
    NONE = "none"


class MeanCorrection(StrEnum):
    """Correction of the mean of a judge's scores."""

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
