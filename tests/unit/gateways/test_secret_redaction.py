"""A key is shown to nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.errors import InputError
from theodolite.gateways.secret_redaction import SHOWN, Credentials, Secret, StruckPieces, text_of_html

KEY = "sk-live-4242424242"


def test_the_key_is_in_neither_repr_nor_str() -> None:
    secret = Secret(KEY, variable="OPENAI_API_KEY")

    assert KEY not in f"{secret!r} {secret}"
    assert "OPENAI_API_KEY" in repr(secret)


@given(before=st.text(max_size=50), after=st.text(max_size=50))
def test_the_key_is_never_repeated_from_a_server_message(before: str, after: str) -> None:
    assert KEY not in Secret(KEY).scrub(before + KEY + after)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Incorrect key: sk-proj-abcdef123456.", "Incorrect key: ***"),
        ("got Bearer abc.def", "got ***"),
        ("two\nlines\t and\x1b[31m colour", "two lines and [31m colour"),
        ("plain", "plain"),
    ],
)
def test_foreign_keys_and_control_characters_are_removed(words: str, shown: str) -> None:
    assert Secret().scrub(words) == shown


def test_long_words_are_shortened() -> None:
    assert len(Secret().scrub("word " * 1000)) == SHOWN


@pytest.mark.parametrize("text", ["two words", "line\nbreak", "schlüssel", "tab\tin"])
def test_an_impossible_key_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(InputError) as caught:
        Secret(text, variable="APP_KEY")

    assert "APP_KEY" in str(caught.value)
    assert text not in str(caught.value)


def test_a_trailing_line_break_is_ignored() -> None:
    assert Secret(f"{KEY}\n").headers() == {"Authorization": f"Bearer {KEY}"}


def test_without_a_key_no_header_is_sent() -> None:
    assert Secret().headers() == {}
    assert not Secret()


@pytest.mark.parametrize(
    ("auth", "text", "struck"),
    [
        ('{"api_key": "swordfish"}', "It is swordfish.", "It is ***."),
        ('{"keys": {"a": ["swordfish", "short"]}}', "swordfish, short", "***, short"),
        ('{"SCENARIO": "pathfinder"}', "Ask the pathfinder.", "Ask the pathfinder."),
        ('{"id": "a1b2c3d4e5f6g7h8"}', "a1b2c3d4e5f6g7h8\nand more", "***\nand more"),
        ('{"model": "gpt-4o-mini"}', "I am gpt-4o-mini.", "I am gpt-4o-mini."),
        ('{"model": "gpt-4o-2024-08-06"}', "I am gpt-4o-2024-08-06.", "I am gpt-4o-2024-08-06."),
        ('{"auth_type": "password"}', "I forgot my password.", "I forgot my password."),
        ('{"base_url": "https://a.example/v1"}', "See https://a.example/v1", "See https://a.example/v1"),
        ('{"auth": {"name": "blue", "value": "swordfish"}}', "swordfish", "***"),
        ("", "swordfish", "swordfish"),
    ],
)
def test_keys_are_masked_in_replies_and_names_are_not(auth: str, text: str, struck: str) -> None:
    assert Credentials(auth, variable="AUTH").strike(text) == struck


@given(st.lists(st.sampled_from(["abab", "c1", "ab", "ababc1", "a", " ", "so"])))
def test_chunks_together_equal_the_redacted_whole(pieces: list[str]) -> None:
    secret, heard = Secret("ababc1"), list[str]()
    struck = StruckPieces(secret, heard.append)

    for piece in pieces:
        struck.feed(piece)
    struck.end()

    assert "".join(heard) == secret.strike("".join(pieces))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("Two lines\nwithout tags, 1 < 2 &amp; 3", "Two lines\nwithout tags, 1 < 2 & 3"),
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("One<br>two<br/>three", "One\ntwo\nthree"),
        ("<p>Much \n   space</p>\n  <p>here</p>", "Much space\n\nhere"),
        ("<ol><li>a</li><li>b <i>c</i></li></ol>", "- a\n- b c"),
        ("<script>steal()</script><style>p {}</style>Hello", "Hello"),
        ('See <a href="https://x.example/a">the page</a>.', "See the page (https://x.example/a)."),
        (
            '<a href="javascript:x()">click</a> <a href="https://x.example">https://x.example</a>',
            "click https://x.example",
        ),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a | b\nc"),
        ('<img src="x" alt="a chart"> <b>bold</b>', "a chart bold"),
        ("<pre>x = 1\ny = 2</pre>", "x = 1\ny = 2"),
        ("<h1>Title</h1>text &lt;b&gt; &#233;", "Title\n\ntext <b> é"),
        ("<div><p></p></div><br>", ""),
        ("<p>never closed", "never closed"),
    ],
)
def test_tags_become_lines_lists_and_links(html: str, text: str) -> None:
    assert text_of_html(html) == text
