"""Contents are read back unchanged in every storage form."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.databases import Database
from theodolite.domain.identity import digest
from theodolite.store.contents import BLOB_BYTES, Content, Contents
from theodolite.store.django_store import DjangoStore
from theodolite.store.models import ContentRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

WORDS = "You are {name}, a customer of a shop. Write as people write in a chat: short sentences, one matter at a time. "


def kin(name: str, *, times: int = 4) -> Content:
    text = WORDS.format(name=name) * times
    return Content(version=digest(text), tag="Persona", text=text, kin="customers")


def keep(store: DjangoStore, contents: Contents, *names: str) -> None:
    """Store similar personas, each in its own transaction."""
    for name in names:
        store._executor.write(partial(contents.keep, [kin(name)]))


def texts(store: DjangoStore, *names: str) -> list[str]:
    """Return the texts read by another process."""
    versions = [kin(name).version for name in names]
    found = store._executor.read(lambda: Contents(store._contents._blobs).texts(versions))
    return [found[version] for version in versions]


def test_similar_texts_are_compressed_against_the_first_and_read_back(database: Database) -> None:
    store = database.open()

    keep(store, store._contents, "Ana", "Bo", "Cy")

    assert store._executor.read(lambda: ContentRow.objects.filter(packed__isnull=False).count()) == 2
    assert texts(store, "Cy", "Ana", "Bo") == [kin(name).text for name in ("Cy", "Ana", "Bo")]


def test_a_compressed_text_is_no_base_for_a_later_process(database: Database) -> None:
    store = database.open()
    keep(store, store._contents, "Ana", "Bo")

    keep(store, Contents(store._contents._blobs), "Bo", "Cy", "Dee")

    rows = store._executor.read(lambda: list(ContentRow.objects.filter(base__isnull=False).select_related("base")))
    assert {row.base.text is not None for row in rows if row.base} == {True}
    assert texts(store, "Bo", "Cy", "Dee") == [kin(name).text for name in ("Bo", "Cy", "Dee")]


def test_uncommitted_texts_are_never_a_base_for_compression(database: Database) -> None:
    store = database.open()
    nameless = Content(version=digest("x"), tag="", text="x")

    with pytest.raises(Exception, match="rules"):
        store._executor.write(partial(_together, store._contents, [kin("Ana"), nameless]))
    keep(store, store._contents, "Bo")

    assert texts(store, "Bo") == [kin("Bo").text]


def _together(contents: Contents, wanted: list[Content]) -> None:
    from django.db import transaction

    with transaction.atomic():
        for content in wanted:
            contents.keep([content])


def test_uncompressed_large_texts_of_earlier_versions_are_read(sqlite: Database) -> None:
    store = sqlite.open()
    large = kin("Ana", times=BLOB_BYTES // 50)
    store._executor.write(partial(store._contents.keep, [large]))
    place = store._contents._place(large.version)
    place.unlink()
    place.with_suffix("").write_text(large.text, encoding="utf-8")

    assert store._executor.read(lambda: store._contents.texts([large.version])) == {large.version: large.text}


def incompressible(n_bytes: int) -> Content:
    text = "".join(digest(str(number)) for number in range(n_bytes // 64 + 1))
    return Content(version=digest(text), tag="context", text=text)


LARGE = [kin("Ana", times=BLOB_BYTES // 50), incompressible(3 * BLOB_BYTES)]


@pytest.mark.parametrize("large", LARGE, ids=["packed", "plain"])
def test_a_worker_on_another_machine_reads_large_texts_without_the_folder(
    postgresql: Database, tmp_path: Path, large: Content
) -> None:
    store = postgresql.open()
    store._executor.write(partial(store._contents.keep, [large]))
    store._executor.write(partial(store._contents.keep, [large]))

    other = Database(tmp_path / "other-machine" / ".theodolite", postgresql.url)
    elsewhere = other.open()
    assert elsewhere._executor.read(lambda: elsewhere._contents.texts([large.version])) == {large.version: large.text}
    assert not (postgresql.workspace / "blobs").exists()
    other.close()


def test_files_of_large_texts_are_moved_into_the_database(postgresql: Database, tmp_path: Path) -> None:
    store = postgresql.open()
    contents = store._contents
    store._executor.write(partial(contents.keep, [kin("Bo")]))
    for large in LARGE:
        contents._write_blob(large.version, large.text.encode())
        row = ContentRow(version=large.version, tag=large.tag)
        store._executor.write(partial(row.save, force_insert=True))

    assert store._executor.write(contents.import_files) == len(LARGE)
    assert store._executor.write(contents.import_files) == 0

    elsewhere = Contents(tmp_path / "nowhere")
    result = store._executor.read(lambda: elsewhere.texts([kin("Bo").version, *(large.version for large in LARGE)]))
    assert [result[large.version] for large in LARGE] == [large.text for large in LARGE]
