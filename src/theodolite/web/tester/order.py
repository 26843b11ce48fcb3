"""The order of a tester's sessions as pages tell it: which one it is, and of how many."""

from __future__ import annotations

from theodolite.domain.people.session import Session
from theodolite.usecases.people.seating import avoided_scenarios, begun_at, own_cells
from theodolite.web.tester.visit import Visit


def nth(visit: Visit, session: Session) -> int:
    """Return which of a person's sessions one is, in the order in which they are held, from 1."""
    before = [one for one in visit.sessions if one.key != session.key and one.clock.started is not None]
    waits = session.clock.started is None
    return 1 + sum(waits or begun_at(one) < begun_at(session) for one in before)


def n_offered(visit: Visit) -> int:
    """Return how many sessions a person has begun or is offered; count."""
    if not visit.venue.study.topics or not visit.plan.people:
        return visit.plan.sessions
    begun = {one.place for one in visit.sessions if one.clock.started is not None}
    avoided = avoided_scenarios(visit.venue, visit.participant)
    cells = own_cells(visit.venue, visit.participant, visit.level)
    return sum(place in begun or cell.scenario not in avoided for place, cell in enumerate(cells))
