"""The port to what people do about answers in own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a port is its signatures: whoever has only those waits for no noun
    from theodolite.domain.codings.coding import Coding, CodingResolution, QuoteRelease


class CodingDesk(Protocol):
    """Codings, resolutions and leave to quote; nothing is ever changed, and what a person withdrew is gone."""

    def keep_coding(self, given: Coding, *, instead_of: str = "") -> None:
        """Store a further revision of what a coder sees in an answer.

        Args:
            given: The coding.
            instead_of: Coder whose place this one takes from now on; what that one gave stays as earlier
                revisions. Empty where nobody's.

        Raises:
            Conflict: If the revision does not follow the last one of its place, enough others have coded the
                answer, or `instead_of` has no place there.
            NotFound: If there is no such session.
        """
        ...

    def codings(self, study: str) -> list[Coding]:
        """Return the latest coding of each coder and answer of a study, in the order of answers and coders."""
        ...

    def keep_coding_resolution(self, given: CodingResolution) -> None:
        """Store a further revision of what came of talking about an answer.

        Raises:
            Conflict: If the revision does not follow the last one.
            NotFound: If there is no such session.
        """
        ...

    def coding_resolutions(self, study: str) -> list[CodingResolution]:
        """Return the latest resolution of each answer of a study that was talked about, in the order of answers."""
        ...

    def keep_quote_release(self, given: QuoteRelease) -> None:
        """Store a further revision of the leave to show an answer.

        Raises:
            Conflict: If the revision does not follow the last one.
            NotFound: If there is no such session.
        """
        ...

    def quote_releases(self, study: str) -> list[QuoteRelease]:
        """Return the latest leave, given or taken back, for each answer of a study that somebody read for it."""
        ...
