"""A study's folder becomes an event that people can test in."""

from __future__ import annotations

import asyncio

from tests.fakes.store import FakeStore
from theodolite.bootstrap.venues import open_venue
from theodolite.demo.studies import lay_out_event
from theodolite.domain.flow import SayToApplication


def test_a_venue_knows_its_run_and_the_way_to_its_applications(tmp_path):
    lay_out_event(tmp_path)
    store = FakeStore()

    opened = open_venue(str(tmp_path), store, workspace=tmp_path / ".theodolite")
    again = open_venue(str(tmp_path), store, workspace=tmp_path / ".theodolite")

    assert opened.venue.run == again.venue.run
    assert opened.venue.study.name == "varn-event"
    asked = SayToApplication(application="leaky-toy", prompt="My gran told me the end", turn=1)
    reply = asyncio.run(opened.connect().applications["leaky-toy"].reply(asked, session="s1"))
    assert "supply ship" in reply.text
