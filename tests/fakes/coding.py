"""Codings of answers in own words, kept in memory and held to the contract of the real store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tests.fakes.people import FakeEvent
from theodolite.domain.codings.coding import CODERS, Coding, CodingResolution, OpenAnswer, QuoteRelease
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.people.session import SessionState

Kept = TypeVar("Kept", Coding, CodingResolution, QuoteRelease)


class FakeCoding:
    """The part of `FakeStore` that coders meet."""

    event: FakeEvent

    def keep_coding(self, given: Coding, *, instead_of: str = "") -> None:
        self._known(given.answer)
        holders = {coding.coder: slot for slot, coding in self._latest(given.answer).items()}
        if instead_of and instead_of not in holders:
            raise Conflict(instead_of)
        slot = holders.get(given.coder) or (holders[instead_of] if instead_of else len(holders) + 1)
        if slot > CODERS:
            raise Conflict(given.coder)
        _follows([one for at, one in self._placed(given.answer) if at == slot], given.revision)
        self.event.coding_slots[given.answer, given.coder, given.revision] = slot
        self.event.codings.append(given)

    def codings(self, study: str) -> list[Coding]:
        answers = dict.fromkeys(one.answer for one in self.event.codings)
        return self._of(study, [one for answer in answers for _, one in sorted(self._latest(answer).items())])

    def _placed(self, answer: OpenAnswer) -> list[tuple[int, Coding]]:
        mine = [one for one in self.event.codings if one.answer == answer]
        return [(self.event.coding_slots[answer, one.coder, one.revision], one) for one in mine]

    def _latest(self, answer: OpenAnswer) -> dict[int, Coding]:
        return dict(self._placed(answer))

    def keep_coding_resolution(self, given: CodingResolution) -> None:
        self._known(given.answer)
        _follows([one for one in self.event.coding_resolutions if one.answer == given.answer], given.revision)
        self.event.coding_resolutions.append(given)

    def coding_resolutions(self, study: str) -> list[CodingResolution]:
        return self._of(study, list({one.answer: one for one in self.event.coding_resolutions}.values()))

    def keep_quote_release(self, given: QuoteRelease) -> None:
        self._known(given.answer)
        _follows([one for one in self.event.releases if one.answer == given.answer], given.revision)
        self.event.releases.append(given)

    def quote_releases(self, study: str) -> list[QuoteRelease]:
        return self._of(study, list({one.answer: one for one in self.event.releases}.values()))

    def _known(self, answer: OpenAnswer) -> None:
        session = self.event.sessions.get(answer.session)
        if session is None or session.state is SessionState.WITHDRAWN:
            raise NotFound(answer.session)

    def _of(self, study: str, kept: Sequence[Kept]) -> list[Kept]:
        places = {key: place for place, key in enumerate(self.event.sessions)}
        mine = [one for one in kept if self._stands(one.answer, study)]
        return sorted(mine, key=lambda one: (places[one.answer.session], one.answer.questionnaire, one.answer.question))

    def _stands(self, answer: OpenAnswer, study: str) -> bool:
        session = self.event.sessions[answer.session]
        return session.study == study and session.state is not SessionState.WITHDRAWN


def _follows(earlier: Sequence[Kept], revision: int) -> None:
    if revision != len(earlier) + 1:
        raise Conflict(str(revision))
