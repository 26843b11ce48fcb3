"""The nouns that some studies hold and others do not: for whoever reads a stored study back, whatever it holds."""

from __future__ import annotations

from theodolite.domain.correction import CorrectionChoice
from theodolite.domain.gate import Gate
from theodolite.domain.people.event import AnnotationProcess, Event, LevelPlan
from theodolite.domain.people.series import Series
from theodolite.domain.people.topic import SensitiveTopic
from theodolite.domain.questionnaire import Questionnaire
from theodolite.domain.risk import Risk
from theodolite.domain.schema import AnnotationSchema
from theodolite.domain.translation import Translation
from theodolite.domain.trees.tree import TreeDesign

__all__ = [
    "AnnotationProcess",
    "AnnotationSchema",
    "CorrectionChoice",
    "Event",
    "Gate",
    "LevelPlan",
    "Questionnaire",
    "Risk",
    "SensitiveTopic",
    "Series",
    "Translation",
    "TreeDesign",
]
