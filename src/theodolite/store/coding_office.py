"""The coding office: what people do about answers in own words, asked of the store and done at its desk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from theodolite.store import people
from theodolite.store.workplace import Workplace

if TYPE_CHECKING:  # who only runs a study codes nothing
    from theodolite.domain.codings.coding import Coding, CodingResolution, QuoteRelease


class CodingOffice:
    """Codings, resolutions and leave to quote of one workspace."""

    _work: Workplace

    def keep_coding(self, given: Coding, *, instead_of: str = "") -> None:
        """Store a further revision of what a coder sees in an answer, perhaps in the place of another one."""
        self._work.write(partial(people.coding.keep_coding, given, instead_of))

    def codings(self, study: str) -> list[Coding]:
        """Return the latest coding of each coder and answer of a study."""
        return self._work.read(partial(people.coding.codings, study))

    def keep_coding_resolution(self, given: CodingResolution) -> None:
        """Store a further revision of what came of talking about an answer."""
        self._work.write(partial(people.coding.keep_coding_resolution, given))

    def coding_resolutions(self, study: str) -> list[CodingResolution]:
        """Return the latest resolution of each answer of a study that was talked about."""
        return self._work.read(partial(people.coding.coding_resolutions, study))

    def keep_quote_release(self, given: QuoteRelease) -> None:
        """Store a further revision of the leave to show an answer."""
        self._work.write(partial(people.coding.keep_quote_release, given))

    def quote_releases(self, study: str) -> list[QuoteRelease]:
        """Return the latest leave, given or taken back, for each answer that somebody read for it."""
        return self._work.read(partial(people.coding.quote_releases, study))
