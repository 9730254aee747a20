"""The strict reading of HTML itself: what it finds in wrong documents, and nothing in right ones."""

from __future__ import annotations

import unittest

from markup import faults

HEAD = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>T</title></head>'

#: Bodies without a fault.
RIGHT = [
    "<p>a &amp; b &#60; c<br>d<br/>e</p>",
    '<svg aria-hidden="true"><symbol id="i-a" viewBox="0 0 1 1"><path d="M0 0"/></symbol></svg><svg><use href="#i-a"></use></svg><svg><use href="#i-a"/></svg>',
    '<ul><li><a href="/x"><span>a</span></a></li><li><a href="#top">b</a></li></ul>',
    '<dl><div><dt>a</dt><dd><p>b</p></dd></div></dl><dl><dt>a</dt><dd>b</dd></dl>',
    '<label for="a">A</label><select id="a"><option>1</option></select><label>B <input type="checkbox" aria-describedby="c d"></label><p id="c"></p><p id="d"></p>',
    '<form method="post"><input type="hidden" name="a" value="b"><button type="submit"><b>a</b> <span>b</span></button></form>',
    '<a href="#%C3%A9"><div>a block in a link</div></a><p id="é"></p>',
    "<details><summary><h2>a</h2></summary><p>b</p></details><pd-checkout><p>a</p></pd-checkout>",
    "<table><caption>a</caption><thead><tr><th>a</th></tr></thead><tbody><tr><td><p>b</p></td></tr></tbody></table>",
    "<script>if (1 < 2) { '</div>' }</script><noscript><p>a</p></noscript><!-- <p> -->",
]

#: Bodies with one fault each, and what is said about it.
WRONG = {
    "<div><p>a</div>": "<p> is not closed before </div>",
    "<div>": "<div> is not closed before </body>",
    "<b><i>a</b></i>": "<i> is not closed before </b>|</i> closes nothing",
    "</p>": "</p> closes nothing",
    "<br></br>": "</br> of an element that has no end",
    "<div/>": "<div/> closes nothing|<div> is not closed before </body>",
    "<p><div>a</div></p>": "<div> in <p>",
    "<span><a href='/'><p>a</p></a></span>": "<p> in <span>",
    "<h1><ul><li>a</li></ul></h1>": "<ul> in <h1>",
    "<button><a href='/'>a</a></button>": "<a> within <button>",
    "<a href='/'>a<span><button>b</button></span></a>": "<button> within <a>",
    "<a href='/'><input name='a'></a>": "<input> within <a>",
    "<form><div><form></form></div></form>": "<form> within <form>",
    "<label>a <label>b</label></label>": "<label> within <label>",
    "<li>a</li>": "<li> in <body>",
    "<ul><div>a</div></ul>": "<div> in <ul>",
    "<ul>a</ul>": "text in <ul>: a",
    "<div><dt>a</dt></div>": "<dt> in a <div> that is in no <dl>",
    "<table><tr><p>a</p></tr></table>": "<p> in <tr>",
    "<meta name='a' content='b'>": "<meta> in <body>",
    "<header><main>a</main></header>": "<main> within <header>",
    "<buton>a</buton>": "<buton> is no element of HTML",
    "<body>": "<body> in <body>|<body> is not closed before </html>",
    "<p id='a'></p><p id='a'></p>": "the id a is there twice",
    "<p id=''></p>": "<p> has the id ''",
    "<p id='a b'></p>": "<p> has the id 'a b'",
    "<p class='a' title='b' CLASS='c'></p>": "<p> has class 2 times",
    "<a href='#none'>a</a>": 'href="none" of <a> names nothing',
    "<svg><use href='#i-none'/></svg>": 'href="i-none" of <use> names nothing',
    "<label for='none'>a</label>": 'for="none" of <label> names nothing',
    "<label for='a'>a</label><p id='a'></p>": 'for="a" names a <p>',
    "<p id='a' aria-labelledby='a b'></p>": 'aria-labelledby="b" of <p> names nothing',
    "<p aria-controls=''></p>": 'aria-controls="" of <p> names nothing',
    "<img src='/a'>": "<img> has no alt",
    "<p>1 < 2</p>": "a < that begins no tag",
    "<p>&nosuch;</p>": "&nosuch; is no character",
    "<?php ?>": "<?php ?> is no HTML",
}  # fmt: skip

#: Whole documents with one fault each.
DOCUMENTS = {
    HEAD.replace("<!doctype html>\n", "") + "<body></body></html>": "the document does not begin with <!doctype html>",
    HEAD.replace("html>\n", "html SYSTEM 'a'>\n") + "<body></body></html>": "<!doctype html SYSTEM 'a'> is not the document's one first <!doctype html>",
    HEAD.replace(' lang="en"', "") + "<body></body></html>": "<html> has no lang",
    HEAD.replace("<title>T</title>", "") + "<body></body></html>": "there is no title",
    HEAD.replace("<title>T</title>", "<title>T</title><p>a</p>") + "<body></body></html>": "<p> in <head>",
    HEAD + "</html>": "there is no <body>",
    HEAD + "<body></body>": "<html> is not closed",
    HEAD + "<body></body></html>a": "text outside <html>: a",
    HEAD + "<body></body></html><p>a</p>": "<p> outside the document",
}  # fmt: skip


class Markup(unittest.TestCase):
    def test_right_documents(self) -> None:
        for body in RIGHT:
            with self.subTest(body=body):
                self.assertEqual(faults(f"{HEAD}\n<body>{body}</body></html>\n"), [])

    def test_wrong_documents(self) -> None:
        cases = {f"{HEAD}\n<body>{body}</body></html>\n": said for body, said in WRONG.items()} | DOCUMENTS
        for document, said in cases.items():
            with self.subTest(document=document):
                self.assertEqual("|".join(each.split(": ", 1)[1] for each in faults(document)), said)

    def test_a_tag_that_is_cut_off(self) -> None:
        self.assertIn("line 2: a < that begins no tag", faults(f"{HEAD}<body><p>a</p></body></html"))

    def test_a_fault_has_its_line(self) -> None:
        self.assertEqual(faults(f"{HEAD}\n<body>\n<p>\n</body></html>"), ["line 4: <p> is not closed before </body>"])


if __name__ == "__main__":
    unittest.main()
