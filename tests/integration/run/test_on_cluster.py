"""`run --on ray` reports its requirements; runs on a real cluster are in the wire suite."""

from __future__ import annotations

import pytest

from tests.fakes.support_study import SupportStudy
from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--workers", "2"), "belong to `--on`"),
        (("--address", "auto"), "belong to `--on`"),
        (("--on", "ray", "--limit", "3"), "run the whole plan"),
        (("--on", "ray", "--shard", "1/2"), "run the whole plan"),
        (("--on", "dask"), "Invalid value for '--on'"),
    ],
    ids=["workers", "address", "limit", "shard", "engine"],
)
def test_unsuitable_options_are_refused(study: SupportStudy, words: tuple[str, ...], said: str) -> None:
    ended = theodolite("run", study.write(), *words)

    assert (ended.code, said in ended.err) == (2, True), ended.err


def test_the_message_names_the_extra_if_ray_is_missing(study: SupportStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("theodolite.bootstrap.ray_cluster.find_spec", lambda _: None)

    ended = theodolite("run", study.write(), "--on", "ray")

    assert ended.code == 2
    assert "pip install 'theodolite[ray]'" in ended.err
    assert not (study.folder / "results.json").exists()
