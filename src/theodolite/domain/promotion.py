"""Promotion: a judge that stands beside people in the queue, after people have certified it."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.identity import digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """The recorded decision that a judge's passes are shown beside people's as more than a shadow.

    It belongs to one version of the judge and of the guideline. Whatever a promoted
    judge says stays marked as a model's.

    Attributes:
        judge: Name of the judge in the study.
        judge_version: Content hash of the judge with its guideline and its model.
        guideline: Name of the guideline.
        guideline_version: Content hash of the guideline.
        certificate: Content hash of the certificate that it rests on.
        by: Who decided.
        reason: Why, in their words.
    """

    judge: str
    judge_version: str
    guideline: str
    guideline_version: str
    certificate: str
    by: str
    reason: str

    @staticmethod
    def subject(judge_version: str) -> str:
        """Return the hash under which the promotions of one version of a judge are filed."""
        return digest("promotion", judge_version)
