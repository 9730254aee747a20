#!/usr/bin/python3
"""Copies the documentation of a running server into a folder, with links between files in the place of addresses.

usage: site.py SERVER FOLDER    a link that leads nowhere, and a fragment that a page does not have, fail the run
       site.py                  tests itself
"""
import pathlib
import posixpath
import re
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import unquote, urldefrag, urljoin

START = "/docs/en"
ADDRESS = re.compile(r'(href|src|data-index)="([^"]*)"')


def fetched(url, seconds=30):
    """The bytes at an address; waits for a server that is starting."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return answer.read()
        except urllib.error.HTTPError as refusal:
            raise SystemExit(f"{url}: {refusal.code}")
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def is_page(path):
    return path.startswith("/docs") and "." not in posixpath.basename(path)


def file_of(path):
    """The file of an address: `/docs/en` is a folder's index, `/docs/en/api` a page."""
    if not is_page(path):
        return path.lstrip("/")
    return path.lstrip("/") + ("/index.html" if path.count("/") <= 2 else ".html")


def is_copied(path):
    return path.startswith(("/docs", "/assets/", "/openapi.json"))


def relative(path, target, fragment):
    """The link from the file of one address to that of another."""
    own = posixpath.dirname(file_of(path))
    return posixpath.relpath(file_of(target), own) + (f"#{fragment}" if fragment else "")


def rewritten(path, html, meet):
    """The page with links between files; `meet` is told each address and fragment that it leads to."""
    def replace(match):
        address, fragment = urldefrag(urljoin(path, match[2]))
        if not is_copied(address):
            return match[0]
        meet(address, unquote(fragment))
        if match[2].startswith("#"):
            return match[0]
        return f'{match[1]}="{relative(path, address, fragment)}"'

    return ADDRESS.sub(replace, html)


def rewritten_index(path, script, meet):
    """What the search looks through; its addresses are read by pages of the same folder."""
    def replace(match):
        address, fragment = urldefrag(match[1])
        meet(address, fragment)
        return f'["{relative(path, address, fragment)}",'

    return re.sub(r'\["(/docs/[^"]+)",', replace, script)


def copy(server, folder):
    waiting, wanted, anchors, files = [START], [], {}, {}
    while waiting:
        path = waiting.pop()
        if path in files:
            continue

        def meet(address, fragment, path=path):
            waiting.append(address)
            if fragment:
                wanted.append((path, address, fragment))

        content = fetched(server + path)
        if is_page(path):
            html = content.decode()
            anchors[path] = set(re.findall(r'\sid="([^"]+)"', html))
            content = rewritten(path, html, meet).encode()
        elif path.endswith("/search.js"):
            content = rewritten_index(path, content.decode(), meet).encode()
        files[path] = content
    faults = [f"{path}: {address} has no #{fragment}" for path, address, fragment in wanted if fragment not in anchors.get(address, set())]
    if faults:
        raise SystemExit("\n".join(sorted(set(faults))))
    for path, content in files.items():
        target = pathlib.Path(folder, file_of(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    first = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Paydesk</title>' \
        '<meta http-equiv="refresh" content="0; url=docs/en/index.html"></head>' \
        '<body><a href="docs/en/index.html">Paydesk</a></body></html>\n'
    pathlib.Path(folder, "index.html").write_text(first)
    return len(anchors)


def test():
    met = []
    page = '<a href="/docs/en/api#2-errors">a</a><a href="#x">b</a><a href="https://x.example/">c</a>' \
        '<a href="/docs/zh-Hans">d</a><img src="/docs/files/a.png"><form data-index="/docs/en/search.js"><a href="/openapi.json">'
    made = rewritten("/docs/en/domain", page, lambda *each: met.append(each))
    assert made == '<a href="api.html#2-errors">a</a><a href="#x">b</a><a href="https://x.example/">c</a>' \
        '<a href="../zh-Hans/index.html">d</a><img src="../files/a.png"><form data-index="search.js"><a href="../../openapi.json">', made
    assert ("/docs/en/api", "2-errors") in met and ("/docs/en/domain", "x") in met and len(met) == 6, met
    made = rewritten_index("/docs/en/search.js", 'x = [["/docs/en/api#a","b"],["/docs/en/api","/docs/c"]]', lambda *each: None)
    assert made == 'x = [["api.html#a","b"],["api.html","/docs/c"]]', made


def main():
    test()
    if sys.argv[1:]:
        server, folder = sys.argv[1:]
        print(f"{copy(server.rstrip('/'), folder)} pages in {folder}")


if __name__ == "__main__":
    main()
