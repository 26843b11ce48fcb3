"""What label files say of people goes into their profiles."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.fakes.store import FakeStore
from theodolite.domain.choices import UserType
from theodolite.domain.event import PersonProfile
from theodolite.usecases.labels import keep_descriptions

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def test_a_description_becomes_a_profile():
    store = FakeStore()

    assert keep_descriptions(store, {"anna": {"language": "de"}}, now=NOW) == 1
    assert store.profile("anna").annotator_attributes == {"language": "de"}


def test_the_same_file_adds_no_revision():
    store = FakeStore()
    keep_descriptions(store, {"anna": {"language": "de"}}, now=NOW)

    assert keep_descriptions(store, {"anna": {"language": "de"}}, now=NOW) == 0


def test_earlier_attributes_of_a_person_are_preserved():
    store = FakeStore()
    own = PersonProfile(user_type=UserType.DOMAIN_EXPERT, languages=("en",), groups={"age": "old"})
    store.add_profile("anna", own, now=NOW)

    keep_descriptions(store, {"anna": {"first job": "nurse"}}, now=NOW)

    assert store.profile("anna").user_type is UserType.DOMAIN_EXPERT
    assert store.profile("anna").annotator_attributes == {"language": "en", "age": "old", "first job": "nurse"}
