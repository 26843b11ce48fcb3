"""A password in an address reaches no screen, no database, no results and no report."""

import pytest

from tests.fakes.support_study import HTTP_BOT
from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration

SECRET = "Pa55word-of-Ana"


@pytest.mark.parametrize("command", ["check", "run", "test", "report"])
def test_a_password_in_an_address_is_in_no_output(command, study, server):
    root = server.root.replace("://", f"://ana:{SECRET}@")
    folder = study.write(bot=HTTP_BOT.format(root=root))

    said = theodolite(command, folder)

    assert said.code == 2, said.said
    assert SECRET not in said.said
    written = [path.name for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert written == ["study.yaml"]
    assert sum(server.stats["by_role"].values()) == 0
