"""The first files of a study about an application that can be called."""

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("path", ["", "/", "/chat/completions"])
def test_an_address_is_asked_for_its_models_wherever_it_ends(tmp_path, path):
    with Loopback(models=("target",)) as server:
        ended = theodolite("init", tmp_path / "s", "--app", f"{server.url}{path}", "--guideline", "groundedness")

    assert "answers as OpenAI-compatible; offers one model: target" in ended.out
    assert f"app:   {{url: {server.url}, name: target}}" in (tmp_path / "s" / "study.yaml").read_text(encoding="utf-8")
