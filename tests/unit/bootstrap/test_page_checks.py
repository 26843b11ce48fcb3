"""What was said is not held against a page; everything else on it is."""

from __future__ import annotations

import pytest

from theodolite.assessment.blinding import SecretWord
from theodolite.bootstrap.page_checks import Lookout, PageAnswer, without_said

SECRETS = (SecretWord("bot-1", "an application"), SecretWord("qwen-7", "a model"))


def leaks(text="", path="/s/x/test/1/", headers="", **more):
    lookout = Lookout("red teamer", SECRETS, **more)
    lookout.look(PageAnswer(f"http://h{path}", 200, headers, text))
    return [(leak.page, leak.revealed.secret.words) for leak in lookout.leaks]


@pytest.mark.parametrize(
    "text",
    [
        '<div class="said you"><div class="words plain">bot-1</div></div>',
        '<div class="said reply"><div><div class="words"><p>I am <b>bot-1</b><br>you see</p></div></div></div>',
        '<ul class="notes"><li>asked bot-1</li></ul>',
        '<textarea id="text" name="text">bot-1</textarea>',
    ],
)
def test_dialogue_texts_and_notes_are_excluded_from_the_search(text):
    assert leaks(text) == []
    assert leaks(text, hears=True) == [("/s/x/test/1/", "bot-1")]


@pytest.mark.parametrize(
    "text",
    [
        '<div class="text words">Try bot-1.</div>',
        '<div class="said"><div class="words">x</div><p class="who">bot-1</p></div>',
        '<p data-of="bot-1">x</p>',
        "<!-- x --><title>bot&#45;1</title>",
    ],
)
def test_all_other_text_is_searched(text):
    assert leaks(text) == [("/s/x/test/1/", "bot-1")]


def test_addresses_and_headers_are_searched():
    assert leaks(path="/s/x/test/bot-1/") == [("/s/x/test/bot-1/", "bot-1")]
    assert leaks(headers="Server: qwen-7") == [("/s/x/test/1/", "qwen-7")]


def test_application_names_are_searched_where_testers_guess_and_model_names_are_not():
    assert leaks("bot-1 qwen-7", path="/s/x/test/guess/") == [("/s/x/test/guess/", "qwen-7")]


def test_each_word_is_reported_once_per_kind_of_page():
    lookout = Lookout("red teamer", SECRETS)
    for path in ("/s/x/test/1/", "/s/y/test/2/", "/s/x/test/leave/"):
        lookout.look(PageAnswer(f"http://h{path}", 200, "", "bot-1"))

    assert (len(lookout.leaks), lookout.n_pages) == (2, 3)


def test_a_malformed_page_is_parsed_to_its_end():
    assert "bot-1" in without_said("</p><div class=said><div class=words>x</div></div></div>bot-1")
