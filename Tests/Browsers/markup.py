"""A strict reading of HTML documents: what a browser would mend in silence is a fault.

It reads with Python's own parser, which mends nothing: every element is closed in its order, stands where it may stand (HTML
Living Standard, sections 4 and 13.1), has each attribute and each id once, and what it refers to exists.
"""

from __future__ import annotations

import re
from collections import Counter
from html.entities import html5
from html.parser import HTMLParser
from urllib.parse import unquote

VOID = set("area base br col embed hr img input link meta source track wbr".split())
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
#: Elements whose content is that of the element around them.
TRANSPARENT = {"a", "ins", "del", "map", "noscript", "object"}
PHRASING = TRANSPARENT | set(
    "abbr area audio b bdi bdo br button canvas cite code data datalist dfn em embed i iframe img input kbd label mark math meter"
    " output picture progress q ruby s samp script select slot small span strong sub sup svg template textarea time u var video wbr".split()
)
#: Elements that hold phrasing alone, that is, neither a paragraph nor a block.
HOLD_PHRASING = HEADINGS | set("abbr b bdi bdo button cite code data dfn em i kbd label legend mark meter output p pre progress q s samp small span strong sub summary sup time u var".split())
FLOW = set(
    "address article aside blockquote body caption colgroup dd details dialog div dl dt fieldset figcaption figure footer form head header"
    " hgroup hr html legend li link main menu meta nav ol optgroup option p pre rp rt search section style summary table tbody td tfoot th thead"
    " title tr ul base col source track".split()
)
KNOWN = VOID | PHRASING | FLOW | HEADINGS
#: Elements that stand in certain others only.
PARENTS = {
    "head": {"html"}, "body": {"html"}, "title": {"head"}, "base": {"head"}, "meta": {"head", "noscript"}, "link": {"head", "noscript"}, "style": {"head", "noscript"},
    "li": {"ul", "ol", "menu"}, "dt": {"dl", "div"}, "dd": {"dl", "div"}, "option": {"select", "optgroup", "datalist"}, "optgroup": {"select"},
    "caption": {"table"}, "colgroup": {"table"}, "col": {"colgroup"}, "thead": {"table"}, "tbody": {"table"}, "tfoot": {"table"},
    "tr": {"table", "thead", "tbody", "tfoot"}, "td": {"tr"}, "th": {"tr"}, "legend": {"fieldset"}, "summary": {"details"}, "figcaption": {"figure"},
}  # fmt: skip
#: Elements that hold certain others only, and no text.
CHILDREN = {
    "html": {"head", "body"}, "head": {"title", "base", "meta", "link", "style", "script", "noscript", "template"},
    "ul": {"li", "script", "template"}, "ol": {"li", "script", "template"}, "menu": {"li", "script", "template"}, "dl": {"dt", "dd", "div", "script", "template"},
    "select": {"option", "optgroup", "hr"}, "optgroup": {"option"}, "table": {"caption", "colgroup", "thead", "tbody", "tfoot", "tr"}, "colgroup": {"col"},
    "thead": {"tr"}, "tbody": {"tr"}, "tfoot": {"tr"}, "tr": {"td", "th"},
}  # fmt: skip
#: Elements that may not stand anywhere within others.
BANNED = {"form": {"form"}, "label": {"label", "a", "button"}, "main": {"article", "aside", "footer", "header", "nav", "main"}} | {
    name: {"a", "button"} for name in ("a", "button", "select", "textarea", "details", "iframe", "embed")
}
#: Elements that a label can name.
LABELABLE = {"button", "input", "meter", "output", "progress", "select", "textarea"}
#: Attributes with one id or several.
REFERENCES = set(
    "aria-activedescendant aria-controls aria-describedby aria-details aria-errormessage aria-flowto aria-labelledby aria-owns commandfor for form headers list popovertarget".split()
)


def faults(document: str) -> list[str]:
    """The faults of a whole document, each with its line."""
    reader = Reader()
    reader.feed(document)
    reader.close()
    return reader.finish()


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[str] = []
        #: The open elements, each with the line of its beginning.
        self.open: list[tuple[str, int]] = []
        self.ids: dict[str, str] = {}
        self.references: list[tuple[str, str, str, int]] = []
        self.seen: Counter[str] = Counter()
        self.title = ""

    def fault(self, text: str, line: int | None = None) -> None:
        self.found.append(f"line {line or self.getpos()[0]}: {text}")

    def within(self, *names: str) -> bool:
        return any(name in names for name, _ in self.open)

    # What the parser meets

    def handle_decl(self, decl: str) -> None:
        if decl.lower() != "doctype html" or self.seen:
            self.fault(f"<!{decl}> is not the document's one first <!doctype html>")
        self.seen["!doctype"] += 1

    def unknown_decl(self, data: str) -> None:
        self.fault(f"<![{data} is no HTML")

    def handle_pi(self, data: str) -> None:
        self.fault(f"<?{data}> is no HTML")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.begin(tag, attrs)
        if tag not in VOID or self.within("svg", "math"):
            self.open.append((tag, self.getpos()[0]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # Only SVG and MathML close an element so; elsewhere a browser ignores the slash.
        if tag not in VOID and not self.within("svg", "math") and tag not in ("svg", "math"):
            self.fault(f"<{tag}/> closes nothing")
            return self.handle_starttag(tag, attrs)
        self.begin(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        names = [name for name, _ in self.open]
        if tag in VOID and tag not in names:
            self.fault(f"</{tag}> of an element that has no end")
        elif tag not in names:
            self.fault(f"</{tag}> closes nothing")
        else:
            while self.open[-1][0] != tag:
                name, line = self.open.pop()
                self.fault(f"<{name}> is not closed before </{tag}>", line)
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.within("script", "style"):
            return
        if "\0" in data:
            self.fault("a NUL")
        if "<" in data:
            self.fault("a < that begins no tag")
        elif data.strip():
            self.text(data)

    def handle_entityref(self, name: str) -> None:
        if name + ";" not in html5:
            self.fault(f"&{name}; is no character")
        self.text(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.text(f"&#{name};")

    def text(self, text: str) -> None:
        parent = self.open[-1][0] if self.open else ""
        if parent == "title":
            self.title += text
        if not self.open or parent in CHILDREN:
            self.fault(f"text in <{parent}>: {text.strip()[:40]}" if parent else f"text outside <html>: {text.strip()[:40]}")

    # The rules

    def begin(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self.seen:
            self.fault("the document does not begin with <!doctype html>")
        foreign = self.within("svg", "math")
        if not foreign:
            self.place(tag, dict(attrs))
        self.seen[tag] += 1
        for name, times in Counter(name for name, _ in attrs).items():
            if times > 1:
                self.fault(f"<{tag}> has {name} {times} times")
        values = {name: value or "" for name, value in reversed(attrs)}
        if "id" in values:
            self.identify(tag, values["id"])
        for name in REFERENCES & values.keys():
            for each in values[name].split() or [""]:
                self.references.append((tag, name, each, self.getpos()[0]))
        for name in ("href", "xlink:href"):
            # The top of the page needs no id.
            if values.get(name, "").startswith("#") and values[name] not in ("#", "#top"):
                self.references.append((tag, name, unquote(values[name][1:]), self.getpos()[0]))
        if tag == "html" and not values.get("lang"):
            self.fault("<html> has no lang")
        if tag == "img" and "alt" not in values:
            self.fault("<img> has no alt")

    def identify(self, tag: str, name: str) -> None:
        if not name or re.search(r"\s", name):
            self.fault(f"<{tag}> has the id {name!r}")
        elif name in self.ids:
            self.fault(f"the id {name} is there twice")
        self.ids.setdefault(name, tag)

    def place(self, tag: str, values: dict[str, str | None]) -> None:
        """Finds what is wrong with an element's place."""
        if tag not in KNOWN and "-" not in tag:
            self.fault(f"<{tag}> is no element of HTML")
        names = [name for name, _ in self.open]
        parent = names[-1] if names else ""
        if (tag == "html") is not (not names) or tag in ("html", "head", "body") and self.seen[tag]:
            self.fault(f"<{tag}> in <{parent}>" if parent else f"<{tag}> outside the document")
        elif parent in CHILDREN and tag not in CHILDREN[parent] or tag in PARENTS and parent not in PARENTS[tag]:
            self.fault(f"<{tag}> in <{parent}>")
        elif tag in ("dt", "dd") and parent == "div" and names[-2:-1] != ["dl"]:
            self.fault(f"<{tag}> in a <div> that is in no <dl>")
        around = next((name for name in reversed(names) if name not in TRANSPARENT), "")
        if around in HOLD_PHRASING and tag not in PHRASING and "-" not in tag and not (around in ("legend", "summary") and tag in HEADINGS):
            self.fault(f"<{tag}> in <{around}>")
        banned = BANNED.get(tag, set())
        if tag == "input" and values.get("type") != "hidden":
            banned = {"a", "button"}
        for name in names:
            if name in banned:
                self.fault(f"<{tag}> within <{name}>")

    def finish(self) -> list[str]:
        for name, line in self.open:
            self.fault(f"<{name}> is not closed", line)
        for tag, attribute, name, line in self.references:
            if name not in self.ids:
                self.fault(f'{attribute}="{name}" of <{tag}> names nothing', line)
            elif attribute == "for" and tag == "label" and self.ids[name] not in LABELABLE:
                self.fault(f'for="{name}" names a <{self.ids[name]}>', line)
        for tag in ("html", "head", "body"):
            if not self.seen[tag]:
                self.fault(f"there is no <{tag}>")
        if not self.title.strip():
            self.fault("there is no title")
        return self.found
