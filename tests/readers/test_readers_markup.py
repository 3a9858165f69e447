"""HTML to text: readable, nothing invented, nothing loaded, and never slow."""

from __future__ import annotations

import socket
import time
from contextlib import suppress

import pytest

from muniment.errors import InvalidInput
from muniment.readers.markup import declared_charset, readable


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<div>one</div><div>two</div>", "one\ntwo"),
        ("one<br>two<BR/>three", "one\ntwo\nthree"),
        ("<div>one</div><div><br></div><div>two</div>", "one\n\ntwo"),
        ("H<b>el</b>lo <i class='x'>you</i>", "Hello you"),
        ("<p>  white \n space&nbsp; </p>", "white space"),
        ("&lt;b&gt; &amp; &eacute; &#8212; &#x4f60;", "<b> & é — 你"),
        ("<ul><li>one<li>two</ul>", "- one\n- two"),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", "a b\nc d"),
        ("<pre>  a\n    b</pre>after", "  a\n    b\n\nafter"),
        ("<head><title>t</title><style>s{}</style></head><body>x<script>if(a<b ){}</script>y", "xy"),
        ("a<!-- hidden <b>x</b> -->b", "ab"),
        ("<!--[if mso]><p>office</p><![endif]-->x", "x"),
        ('<a title="a > b" href=x>link</a> <a title=it\'s>here</a>', "link here"),
        ("<p>5 < 6 and 7 > 2", "5 < 6 and 7 > 2"),
        ("<p>unclosed <b>tags <p>go on", "unclosed tags\n\ngo on"),
        ("全角　空白", "全角　空白"),
        ("", ""),
    ],
)
def test_pages_read_as_a_person_would_read_them(html: str, text: str) -> None:
    assert readable(html) == text


def test_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a page tried to reach the network")

    monkeypatch.setattr(socket, "socket", refuse)
    html = '<link rel=stylesheet href="http://x.test/a.css"><img src="http://x.test/p.png"><iframe src="file:///x">i</iframe>'
    assert readable(html + "<script src='http://x.test/a.js'></script>words") == "words"


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 19_000 + "x",
        "<p>" + "".join(f"<font size={n}>" for n in range(5000)) + "</p>" + "<p>x</p>" * 5000,
        "<p " + " ".join(f"a{n}" for n in range(200_000)) + ">x",
        "<p " + " ".join(f"<a{n}" for n in range(50_000)) + ">x",
        "<svg>" + "<td><a>" * 15_000 + "x",
        '<a x="' * 30_000 + "x",
        "<a " * 50_000 + "x",
        "<" * 100_000 + "x",
        "&" * 500_000 + "x",
    ],
    ids=["nested", "unclosed inline", "attributes", "attributes as tags", "foreign", "quotes", "open", "less", "and"],
)
def test_hostile_pages_are_read_or_refused_in_little_time(html: str) -> None:
    started = time.perf_counter()
    with suppress(InvalidInput):
        readable(html)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("html", ["<div>" * 1_000_000, "<p>" * 1_000_000])
def test_a_page_with_too_many_tags_is_refused(html: str) -> None:
    with pytest.raises(InvalidInput, match="more than"):
        readable(html)


def test_the_pages_own_charset_is_found() -> None:
    assert declared_charset(b'<html><meta charset="shift_jis">') == "shift_jis"
    assert declared_charset(b'<META http-equiv=Content-Type content="text/html; charset=gbk">') == "gbk"
    assert declared_charset(b"<meta charset=utf-16>") == "utf-8"
    assert declared_charset(b"<p>charset=gbk") is None
