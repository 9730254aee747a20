"""A Paydesk server of its own for the browsers, with the shipped configuration, and its callers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ports import free_port

ROOT = Path(__file__).resolve().parents[2]
#: The database of the shipped settings.
SQLITE = "url: sqlite:var/paydesk.db"


def eventually(check: Any, seconds: float = 10) -> Any:
    """The first answer of `check` that is true, else its last one after so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        answer = check()
        if answer or time.monotonic() > deadline:
            return answer
        time.sleep(0.05)


class KeepRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follows nothing."""


class Desk:
    """One server process with a folder of its own, and the database at an address, else a SQLite file in that folder."""

    def __init__(self, binary: str, database: str = "", accounts: dict[str, dict[str, Any]] | None = None) -> None:
        self.binary, self.port, self.users = str(Path(binary).resolve()), free_port(), 0
        self.database, self.keys = database, 0
        self.url, self.secret = f"http://127.0.0.1:{self.port}", secrets.token_hex(32)
        self.home = Path(tempfile.mkdtemp(prefix="paydesk-browsers-"))
        self.environment = {**os.environ, "PAYDESK_USER_SECRET": self.secret}
        self.process: subprocess.Popen[bytes] | None = None
        shutil.copytree(ROOT / "Config", self.home / "Config")
        settings = self.home / "Config" / "paydesk.yaml"
        text = settings.read_text(encoding="utf-8").replace("public_url: http://127.0.0.1:8080", f"public_url: {self.url}")
        text = text.replace("  port: 8080", f"  port: {self.port}").replace("pages_per_second: 10", "pages_per_second: 0")
        # Webhooks of the tests go to this machine.
        text = text.replace("allow_private_networks: false", "allow_private_networks: true")
        text = text.replace('  name: ""', '  name: "Aurora"').replace('  support_url: ""', '  support_url: "mailto:help@aurora.example"')
        text = text.replace('  terms_url: ""', '  terms_url: "https://aurora.example/terms"').replace("merchant_lines: []", 'merchant_lines: ["Aurora Reading Ltd", "1 Example Road"]')
        if database:
            assert SQLITE in text, "the shipped settings name another database"
            text = text.replace(SQLITE, f'url: "{database}"')
        settings.write_text(text, encoding="utf-8")
        for name, account in (accounts or {}).items():
            (self.home / "Config" / "providers" / f"{name}.yaml").write_text(json.dumps({"account": name, "enabled": True, "notify_token": "", **account}), encoding="utf-8")
        self.run("migrate")
        self.admin = json.loads(self.run("keys", "create", "--name", "browsers", "--scopes", "admin", "--json"))["key"]
        self.start()

    def run(self, *arguments: str) -> str:
        return subprocess.run([self.binary, *arguments], cwd=self.home, env=self.environment, capture_output=True, text=True, check=True, timeout=120).stdout

    def start(self) -> None:
        with (self.home / "server.log").open("ab") as log:
            self.process = subprocess.Popen([self.binary, "serve"], cwd=self.home, env=self.environment, stdout=log, stderr=log)
        assert eventually(self.answers, 60), (self.home / "server.log").read_text(errors="replace")[-4000:]

    def answers(self) -> bool:
        try:
            return self.call("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def stop(self) -> None:
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=30)
            self.process = None

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    # Callers

    def user(self) -> str:
        """The token of a new user."""
        self.users += 1
        return self.token(f"user-{self.users}")

    def token(self, user: str) -> str:
        def part(content: bytes) -> str:
            return base64.urlsafe_b64encode(content).rstrip(b"=").decode()

        claims = {"sub": user, "iat": int(time.time()), "exp": int(time.time()) + 3600}
        text = part(b'{"alg":"HS256","typ":"JWT"}') + "." + part(json.dumps(claims).encode())
        return text + "." + part(hmac.new(self.secret.encode(), text.encode(), hashlib.sha256).digest())

    def call(self, method: str, path: str, body: Any = None, bearer: str = "", kind: str = "application/json") -> tuple[int, str]:
        data = None if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers = {"Content-Type": kind} | ({"Authorization": f"Bearer {bearer}"} if bearer else {})
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.build_opener(KeepRedirects).open(request, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()

    def document(self, url: str, agent: str, language: str, enter: str = "") -> str:
        """The document at an address, as a browser gets it that follows and keeps cookies; that of a refusal, too.

        `enter` is an address that is opened before, and gives the cookie.
        """
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        try:
            for address in [enter, url] if enter else [url]:
                request = urllib.request.Request(address, headers={"User-Agent": agent, "Accept-Language": language})
                with opener.open(request, timeout=20) as answer:
                    text = answer.read().decode()
            return text
        except urllib.error.HTTPError as refusal:
            return refusal.read().decode()

    def data(self, method: str, path: str, body: Any = None, bearer: str = "") -> Any:
        status, text = self.call(method, path, body, bearer)
        assert status == 200, f"{method} {path}: {status} {text[:600]}"
        return json.loads(text)["data"]

    def session(self, user: str, *skus: str, **more: Any) -> dict[str, Any]:
        return self.data("POST", "/v1/public/sessions", {"purpose": "checkout", "skus": list(skus), **more}, user)

    def shown(self, session: dict[str, Any]) -> dict[str, Any]:
        return self.data("GET", "/v1/public/session", None, session["token"])

    def buy(self, session: dict[str, Any], **body: Any) -> dict[str, Any]:
        return self.data("POST", "/v1/public/checkout", body, session["token"])

    def act(self, payment: str, outcome: str) -> None:
        """What a payer does on the sandbox's page."""
        status, text = self.call("POST", f"/sandbox/{payment}", urlencode({"outcome": outcome}), kind="application/x-www-form-urlencoded")
        assert status in (200, 303), text[:400]

    def key(self, *scopes: str, **more: Any) -> dict[str, Any]:
        """A new API key."""
        self.keys += 1
        return self.data("POST", "/v1/admin/api-keys", {"name": f"key-{self.keys}", "scopes": list(scopes), **more}, self.admin)

    def read(self, path: str) -> Any:
        """What an admin reads below `/v1/admin/`."""
        return self.data("GET", f"/v1/admin/{path}", None, self.admin)

    def paid(self, user: str, sku: str = "vip_month", **more: Any) -> dict[str, Any]:
        """The contract of an order that is paid."""
        contract = self.opened(user, sku, **more)
        self.act(contract["payment_id"], "succeed")
        assert eventually(lambda: self.read(f"orders/{contract['order_id']}")["status"] == "paid"), "the order is not paid"
        return contract

    def opened(self, user: str, sku: str = "vip_month", **more: Any) -> dict[str, Any]:
        """The contract of an open order at the sandbox's page."""
        return self.buy(self.session(self.token(user), sku, **more), provider="sandbox-url")

    def pay_wrongly(self, contract: dict[str, Any], value: int) -> None:
        """Has the sandbox say that another amount came."""
        address = next(each["notify_url"] for each in self.read("accounts")["items"] if each["id"] == "sandbox-url")
        amount = {**contract["amount"], "value": value}
        body = json.dumps({"event_id": secrets.token_hex(8), "payment_id": contract["payment_id"], "type": "payment.succeeded", "amount": amount, "occurred_at": int(time.time())})
        stamp = int(time.time())
        signature = hmac.new(b"sandbox-development-secret", f"{stamp}.{body}".encode(), hashlib.sha256).hexdigest()
        request = urllib.request.Request(address, body.encode(), {"X-Sandbox-Signature": f"t={stamp},v1={signature}", "Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=20).close()
        assert eventually(lambda: self.read(f"orders/{contract['order_id']}")["mismatches"]), "the amount was not kept"

    def bought_in_store(self, user: str, product: str) -> str:
        """Buys in the App Store in a box and claims it; the original transaction's id."""
        status, text = self.call("POST", "/dev/appstore/users", {"user_id": user})
        assert status == 200, text
        status, text = self.call("POST", "/dev/appstore/purchases", {"product_id": product, "customer": user, "app_account_token": json.loads(text)["app_account_token"]})
        assert status in (200, 201), text
        found = eventually(lambda: self.read("users/" + user)["purchases"])
        assert found, "the purchase did not arrive"
        return found[0]["original_transaction_id"]

    def orders(self, user: str) -> list[dict[str, Any]]:
        return self.data("GET", "/v1/public/orders", None, user)["items"]
