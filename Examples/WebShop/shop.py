"""A shop's own server: who is logged in, and a link to the cashier. Python's standard library alone.

usage: shop.py PAYDESK_URL PORT          with the secret of the users' tokens in PAYDESK_USER_SECRET
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PAYDESK, PORT = sys.argv[1], int(sys.argv[2])
SECRET = os.environ["PAYDESK_USER_SECRET"].encode()
HERE = Path(__file__).parent


def token(user: str) -> str:
    """The JWT of a logged-in user (HS256): what your own login would give."""

    def part(content: bytes) -> str:
        return base64.urlsafe_b64encode(content).rstrip(b"=").decode()

    claims = {"sub": user, "iat": int(time.time()), "exp": int(time.time()) + 3600}
    text = part(b'{"alg":"HS256","typ":"JWT"}') + "." + part(json.dumps(claims).encode())
    return text + "." + part(hmac.new(SECRET, text.encode(), hashlib.sha256).digest())


def session(user: str, sku: str, back: str) -> str:
    """The address of a cashier for one user and one SKU."""
    body = json.dumps({"purpose": "checkout", "skus": [sku], "return_url": back}).encode()
    headers = {"Authorization": "Bearer " + token(user), "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(PAYDESK + "/v1/public/sessions", body, headers)) as answer:
        return json.load(answer)["data"]["url"]


class Shop(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if path in ("/", "/link"):
            page = (HERE / ("index.html" if path == "/" else "link.html")).read_text(encoding="utf-8")
            self.answer(200, "text/html; charset=utf-8", page.replace("PAYDESK_URL", PAYDESK))
        elif path == "/token":
            self.answer(200, "text/plain", token("alice"))
        elif path == "/buy":
            address = session("bob", query["sku"][0], f"http://{self.headers['Host']}/link")
            self.answer(303, "text/plain", "", Location=address)
        elif path == "/favicon.ico":
            self.answer(204, "image/png", "")
        else:
            self.answer(404, "text/plain", "")

    def answer(self, status: int, kind: str, text: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(text.encode())), "Cache-Control": "no-store", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Writes no log."""


ThreadingHTTPServer(("127.0.0.1", PORT), Shop).serve_forever()
