"""Combined reviews: somebody who is no blind annotator reads a session's dialogues and questionnaire together."""

from __future__ import annotations

from dataclasses import replace

from theodolite.domain.choices import Identification
from theodolite.domain.errors import InputError
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.run import Run
from theodolite.domain.study import Study
from theodolite.ports.store import Store


def keep_review(store: Store, study: Study, run: Run, review: CombinedReview) -> None:
    """Keep a combined review; a later one of the same session and risk takes its place, and the earlier one stays.

    Args:
        store: The database.
        study: The study.
        run: Whose labels tell who annotates.
        review: What was found.

    Raises:
        InputError: If the risk needs no combined review, or the reviewer has annotated dialogues of the study.
    """
    wanted = [risk.name for risk in study.risks if risk.identified_by is Identification.BOTH]
    if review.risk not in wanted:
        message = f"risk `{review.risk}` is not identified by questionnaire and dialogue; those are {wanted or 'none'}"
        raise InputError(message)
    names = {label.annotator for label in store.labels(run)}
    if any(name == review.reviewer or name.startswith(f"{review.reviewer}-") for name in names):
        message = "who annotates dialogues of the study must see no questionnaire; a combined review is for others"
        raise InputError(message)
    same = [one for one in reviews_of(store, study) if (one.risk, one.session) == (review.risk, review.session)]
    store.file(CombinedReview.subject(study.name), replace(review, revision=len(same) + 1))


def reviews_of(store: Store, study: Study) -> tuple[CombinedReview, ...]:
    """Return all combined reviews of a study, the oldest first."""
    return tuple(store.filed(CombinedReview, CombinedReview.subject(study.name)))
