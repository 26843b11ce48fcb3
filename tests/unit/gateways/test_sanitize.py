"""HTML replies become what a reader of the page would read."""

import pytest

from theodolite.gateways.sanitize import text_of_html


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
