"""HTML to readable text. Nothing is ever loaded: no image, no style sheet, no script, no link."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from muniment.errors import InvalidInput

MAX_TAGS = 200_000
MAX_NESTABLE_TAGS = 20_000

_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s/<>]*)(?:[^<>=]|=\s*+"[^"]*+"|=\s*+'[^']*+'|=)*+>?""")
_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd",
    "label", "mark", "math", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "svg", "tt",
    "u", "var",
}  # fmt: skip
_NESTABLE = re.compile(r"<(?!(?:wbr|br|img|hr|meta|link|input|p|li|dt|dd|td|th|tr|tbody|option)[/>])[a-zA-Z]")
_META_CHARSET = re.compile(rb"""<meta[^<>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)

_DROPPED = {
    "head", "title", "script", "style", "template", "iframe", "object", "noembed", "noframes", "textarea", "select",
    "-comment",
}  # fmt: skip
_PARAGRAPHS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "dl", "table", "pre", "hr"}
_LINES = {
    "address", "article", "aside", "body", "caption", "center", "dd", "details", "div", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "header", "li", "main", "nav", "section", "summary", "tbody", "tfoot", "thead", "tr",
}  # fmt: skip


def readable(html: str) -> str:
    """The text of a page as a reader sees it: blocks on lines of their own, entities decoded, white space collapsed.

    Raises `InvalidInput` for a page with more tags than a message can honestly have.
    """
    page = _Page()
    body = LexborHTMLParser(_simplified(html)).body
    # A stack in place of recursion: pages nest deeper than Python's frames. A number is the break after an element.
    waiting: list[LexborNode | int] = [] if body is None else [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, int):
            page.break_lines(node)
        else:
            waiting.extend(_visit(node, page))
    return page.text()


def declared_charset(html: bytes) -> str | None:
    """The charset that the page's own `meta` element names."""
    found = _META_CHARSET.search(html[:2048])
    charset = found[1].decode("ascii", "replace").lower() if found else None
    # A page whose ASCII could be read this far is not UTF-16, whatever it says.
    return "utf-8" if charset and charset.startswith("utf-16") else charset


def _visit(node: LexborNode, page: _Page) -> list[LexborNode | int]:
    """Writes what stands at the start of `node`; returns what is left to visit, last first."""
    tag = node.tag or ""
    if tag == "-text":
        page.write(node.text_content or "")
        return []
    if tag in _DROPPED:
        return []
    if tag == "br":
        page.new_line()
        return []
    breaks = 2 if tag in _PARAGRAPHS else 1 if tag in _LINES else 0
    page.break_lines(breaks)
    if tag == "pre":
        page.write_verbatim(node.text(deep=True))
        return [breaks]
    if tag in ("td", "th"):
        page.write(" ")
    if tag == "li":
        page.write("- ")
    return [breaks, *reversed(list(node.iter(include_text=True)))]


def _simplified(html: str) -> str:
    """The page with bare tags only, and none for what never breaks a line.

    Building an HTML5 tree costs the square of the nesting depth and of the attributes in a tag, and each unclosed
    inline element is built again in each block: a small hostile page would fill the memory. The text needs neither
    attributes nor inline elements, and what can still nest is counted.
    """
    if html.count("<") > MAX_TAGS:
        raise InvalidInput(f"the HTML text has more than {MAX_TAGS} tags")
    bare = _TAG.sub(_bare_tag, html)
    if len(_NESTABLE.findall(bare)) > MAX_NESTABLE_TAGS:
        raise InvalidInput(f"the HTML text has more than {MAX_NESTABLE_TAGS} elements that can nest")
    return bare


def _bare_tag(tag: re.Match[str]) -> str:
    # `<wbr/>` stands for nothing anywhere; leaving nothing at all could join the text around it to a new tag.
    return "<wbr/>" if tag[2].lower() in _INLINE else f"<{tag[1]}{tag[2]}>"


class _Page:
    """Text that is being written, which knows how many line ends it has at its end."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._line_ends = 2

    def write(self, text: str) -> None:
        """Appends running text; white space collapses, also with what stands before it."""
        text = re.sub(r"[ \t\n\r\f\xa0]+", " ", text)
        if self._line_ends or (self._parts and self._parts[-1].endswith(" ")):
            text = text.lstrip(" ")
        self.write_verbatim(text)

    def write_verbatim(self, text: str) -> None:
        """Appends text with its own lines and spaces."""
        if text:
            self._parts.append(text)
            self._line_ends = 0

    def new_line(self) -> None:
        """Ends the line, even an empty one."""
        self._parts.append("\n")
        self._line_ends += 1

    def break_lines(self, wanted: int) -> None:
        """Ends the line unless that many line ends stand there already: 1 for a new line, 2 for a blank one."""
        while self._line_ends < wanted:
            self.new_line()

    def text(self) -> str:
        """What was written, without trailing spaces and without blank lines at either end."""
        return re.sub(r"[ \t]+\n", "\n", "".join(self._parts)).strip("\n").rstrip()
