"""A stand-in of WeChat: its web authorisation, the exchange of codes, and as much of WeChat Pay v3 as a payer's life needs.

Keys and signatures are made by the program openssl.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import subprocess
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

MCHID, OFFICE, KEY_ID = "1900000109", "wx2421b1c4370ec43b", "PUB_KEY_ID_0114232134912410000000000000"
OPENID = "oUpF8uMuAJO_M2pxb1Q9zNjWeS6o"
#: WeChat's browser on a phone.
AGENT = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 MicroMessenger/8.0.50 NetType/WIFI Language/zh_CN"


class WeChat:
    """A merchant at WeChat. `agrees`: whether its authorisation names the payer; `openid`: the name, None for an error."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="weixin-"))
        for name in ("merchant", "wechat"):
            self.openssl("genrsa", "-out", str(self.folder / f"{name}.pem"), "2048")
        self.agrees, self.openid = True, OPENID
        self.codes: set[str] = set()
        #: What the authorisation's and the exchange's calls said.
        self.sent: list[dict[str, str]] = []
        self.exchanged: list[dict[str, str]] = []
        self.orders: dict[str, dict[str, Any]] = {}
        wechat = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wechat.answer(self, b"")

            def do_POST(self) -> None:
                wechat.answer(self, self.rfile.read(int(self.headers.get("Content-Length") or 0)))

            def log_message(self, *_: object) -> None:
                """Writes no log."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def openssl(*arguments: str, text: bytes = b"") -> bytes:
        return subprocess.run(["openssl", *arguments], input=text, capture_output=True, check=True).stdout

    def account(self) -> dict[str, Any]:
        """The account of a desk at this WeChat."""
        public = self.openssl("rsa", "-in", str(self.folder / "wechat.pem"), "-pubout").decode()
        (self.folder / "public.pem").write_text(public)
        oauth = {"app_id": OFFICE, "app_secret": "the secret of the service account", "authorize_url": self.url + "/connect/oauth2/authorize", "api_base": self.url}
        settings = {
            "mchid": MCHID, "appid": OFFICE, "modes": ["native", "jsapi"], "app_ids": {"jsapi": [OFFICE]}, "oauth": oauth, "private_key": f"file:{self.folder / 'merchant.pem'}",
            "certificate_serial": "5157F09EFDC096DE15EBE81A47057A7232F1B8E1", "api_v3_key": secrets.token_hex(16), "public_key": str(self.folder / "public.pem"), "public_key_id": KEY_ID, "api_base": self.url,
        }
        return {"kind": "wechat_pay", "routing": {"platforms": ["web"], "priority": 1, "weight": 1}, "settings": settings}

    def pay(self, number: str) -> None:
        """What a payer does in WeChat's sheet; nobody is told."""
        self.orders[number] |= {"trade_state": "SUCCESS", "transaction_id": "42" + str(secrets.randbelow(10**26)).zfill(26), "success_time": "2026-11-25T15:00:00+08:00"}

    # answers

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        address = urlsplit(handler.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        if address.path == "/connect/oauth2/authorize":
            return self.authorize(handler, query)
        if address.path == "/sns/oauth2/access_token":
            return self.exchange(handler, query)
        status, content = self.pay_call(handler.command, address.path, json.loads(body or b"null"))
        text = b"" if content is None else json.dumps(content).encode()
        stamp, nonce = str(int(time.time())), secrets.token_hex(16)
        signed = self.openssl("dgst", "-sha256", "-sign", str(self.folder / "wechat.pem"), text=f"{stamp}\n{nonce}\n".encode() + text + b"\n")
        self.send(handler, status, text, {"Wechatpay-Timestamp": stamp, "Wechatpay-Nonce": nonce, "Wechatpay-Serial": KEY_ID, "Wechatpay-Signature": base64.b64encode(signed).decode(), "Wechatpay-Signature-Type": "WECHATPAY2-SHA256-RSA2048"})

    def authorize(self, handler: BaseHTTPRequestHandler, query: dict[str, str]) -> None:
        self.sent.append(query)
        given = {"state": query["state"]}
        if self.agrees:
            given["code"] = secrets.token_hex(16)
            self.codes.add(given["code"])
        self.send(handler, 302, b"", {"Location": f"{query['redirect_uri']}?{urlencode(given)}"})

    def exchange(self, handler: BaseHTTPRequestHandler, query: dict[str, str]) -> None:
        self.exchanged.append(query)
        known = query.get("code") in self.codes and self.openid is not None
        self.codes.discard(query.get("code", ""))
        answer = {"access_token": "AT", "expires_in": 7200, "refresh_token": "RT", "openid": self.openid, "scope": "snsapi_base"} if known else {"errcode": 40029, "errmsg": "invalid code"}
        self.send(handler, 200, json.dumps(answer).encode(), {"Content-Type": "text/plain"})

    def pay_call(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if method == "POST" and (made := re.fullmatch(r"/v3/pay/transactions/(native|jsapi)", path)):
            order = {name: body[name] for name in ("appid", "mchid", "out_trade_no")} | {"trade_type": made[1].upper(), "trade_state": "NOTPAY", "trade_state_desc": "", "amount": body["amount"] | {"payer_total": body["amount"]["total"], "payer_currency": "CNY"}, "payer": body.get("payer", {"openid": OPENID})}
            self.orders.setdefault(body["out_trade_no"], order)
            return (200, {"code_url": "weixin://wxpay/bizpayurl?pr=p4lpSuKzz"}) if made[1] == "native" else (200, {"prepay_id": "wx" + secrets.token_hex(17)})
        if found := re.fullmatch(r"/v3/pay/transactions/out-trade-no/([^/]+)(/close)?", path):
            order = self.orders.get(found[1])
            if not order:
                return 404, {"code": "ORDER_NOT_EXIST", "message": "no"}
            if found[2] and order["trade_state"] == "SUCCESS":
                return 400, {"code": "ORDER_PAID", "message": "no"}
            if found[2]:
                order["trade_state"] = "CLOSED"
                return 204, None
            return 200, order
        return 404, {"code": "NOT_FOUND", "message": "no"}

    @staticmethod
    def send(handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str]) -> None:
        handler.send_response(status)
        for name, value in ({"Content-Type": "application/json", "Content-Length": str(len(body))} | headers).items():
            if status != 204 or name != "Content-Length":
                handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)
