"""A payment method for Paydesk outside of its binary: the protocol of Providers/Remote/openapi.yaml in one file.

It plays its own payment service, with a page on which the payer pays; put yours in its place, and a database.
usage: PLUGIN_SECRETS=whsec_…[,whsec_…] plugin.py PORT [--rehearsal]
--rehearsal lets `paydesk conformance` play payers and set the clock: never where money is.
"""
import base64, contextlib, hashlib, hmac, html, http.server, json, os, sys, threading, time, uuid
import urllib.parse, urllib.request

PORT, REHEARSAL, WINDOW, LIMIT = int(sys.argv[1]), "--rehearsal" in sys.argv, 300, 64 << 10
BASE = os.environ.get("PLUGIN_URL", f"http://127.0.0.1:{PORT}")
# The first signs, all verify, so that one can replace another.
SECRETS = [base64.b64decode(text.strip().removeprefix("whsec_")) for text in os.environ["PLUGIN_SECRETS"].split(",")]
MANIFEST = {"protocol": 1, "display_name": "Example bank", "contract_types": ["url"], "currencies": [],
            "cancel": "definite", "refunds": "partial", "notifications": True, "mandates": True}


def signature(secret, id, timestamp, body):
    return b"v1," + base64.b64encode(hmac.digest(secret, f"{id}.{timestamp}.".encode() + body, "sha256"))


def sealed(id, now, value):
    body = json.dumps(value).encode()
    return {"content-type": "application/json", "webhook-id": id, "webhook-timestamp": str(now),
            "webhook-signature": signature(SECRETS[0], id, now, body).decode()}, body


def is_genuine(headers, body, now):
    id, timestamp, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    is_timely = timestamp.isdecimal() and abs(now - int(timestamp)) <= WINDOW
    mine = [signature(secret, id, timestamp, body) for secret in SECRETS]
    return is_timely and any(hmac.compare_digest(code, word.encode()) for word in signatures.split() for code in mine)


def refuse(type, reason=None):
    """rejected: never; unavailable: nothing happened; outcome_unknown: it may have; unsupported: no such call."""
    status = {"rejected": 409, "unsupported": 501, "unavailable": 503, "outcome_unknown": 504}[type]
    return status, {"error": {"type": type, "reason": reason}}


class Bank:
    """Every call may come again, also at the same time: ids of Paydesk's are the idempotency keys."""
    payments, setups, mandates, played, lock = {}, {}, {}, {}, threading.Lock()

    def payment(self, q):
        new = {"amount": q["amount"], "status": "waiting", "refunds": {}, "notify_url": q.get("notify_url"),
               "wanted": q.get("mandate_request"), "more": {}, "charge": None}
        return self.payments.setdefault(q["payment_id"], new)

    def shown(self, id):
        payment = self.payments.get(id)
        if not payment:  # Its opening may be on its way, so that is no end.
            return {"payment_id": id, "status": "not_found"}
        said = {"payment_id": id, "status": payment["status"], "amount": payment["amount"], "reference": f"B-{id}"}
        return said | payment["more"]

    def open(self, q, now):
        payment = self.payment(q)
        if payment["amount"] != q["amount"] or payment["status"] in ("failed", "cancelled"):
            return refuse("rejected", "closed" if payment["amount"] == q["amount"] else "amount_differs")
        contract = {"type": "url", "checkout_url": f"{BASE}/pay/{q['payment_id']}"}
        return 200, {"payment": self.shown(q["payment_id"]), "contract": contract}

    def cancel(self, q, now):
        payment = self.payment(q)  # Also where it was never opened: an opening that comes late must find it closed.
        payment["status"] = {"waiting": "cancelled"}.get(payment["status"], payment["status"])
        return 200, {"payment": self.shown(q["payment_id"])}

    def refund(self, q, now):
        payment = self.payments.get(q["payment_id"])
        if not payment or payment["status"] != "succeeded" or q["amount"]["currency"] != payment["amount"]["currency"]:
            return refuse("rejected", "not_paid")
        left = payment["amount"]["value"] - sum(made["value"] for made in payment["refunds"].values())
        if q["refund_id"] not in payment["refunds"] and not 0 < q["amount"]["value"] <= left:
            return refuse("rejected", "too_much")
        payment["refunds"].setdefault(q["refund_id"], q["amount"])
        return self.query_refund(q, now)

    def query_refund(self, q, now):
        made = self.payments.get(q["payment_id"], {}).get("refunds", {}).get(q["refund_id"])
        said = {"status": "succeeded", "amount": made} if made else {"status": "not_found"}
        return 200, {"refund": {"payment_id": q["payment_id"], "refund_id": q["refund_id"]} | said}

    def setup(self, q):
        new = {"subscription_id": q["subscription_id"], "status": "waiting", "notify_url": q.get("notify_url"),
               "wanted": q, "more": {}}
        return self.setups.setdefault(q["setup_id"], new)

    def shown_setup(self, id):
        setup = self.setups.get(id)
        if not setup:
            return {"setup_id": id, "status": "not_found"}
        return {"setup_id": id, "status": setup["status"], "reference": f"S-{id}"} | setup["more"]

    def open_setup(self, q, now):
        if self.setup(q)["status"] in ("failed", "cancelled"):
            return refuse("rejected", "closed")
        contract = {"type": "url", "checkout_url": f"{BASE}/pay/{q['setup_id']}"}
        return 200, {"setup": self.shown_setup(q["setup_id"]), "contract": contract}

    def cancel_setup(self, q, now):
        setup = self.setup(q)  # As with payments: an opening that comes late must find it closed.
        setup["status"] = {"waiting": "cancelled"}.get(setup["status"], setup["status"])
        return 200, {"setup": self.shown_setup(q["setup_id"])}

    def keep(self, reference, subscription, account):
        """A mandate: its fingerprint is the same for the same account, so that nobody has two trials with it."""
        mandate = {"reference": reference, "label": f"Account …{account[-4:]}", "subscription": subscription,
                   "fingerprint": hashlib.sha256(account.encode()).hexdigest()[:32], "active": True}
        self.mandates[reference] = mandate
        return self.shown_mandate(mandate)

    def shown_mandate(self, mandate):
        return {name: mandate[name] for name in ("reference", "label", "fingerprint")}

    def mandate(self, q):
        """The mandate that a call names; None where it is not this subscription's, or has ended."""
        reference = q["mandate"]["reference"]
        if reference.startswith("imported_") and reference not in self.mandates:  # Stands for one of an older system.
            self.keep(reference, q["subscription_id"], reference)
        mandate = self.mandates.get(reference)
        return mandate if mandate and mandate["active"] and mandate["subscription"] == q["subscription_id"] else None

    def charge(self, q, now):
        if q["payment_id"] not in self.payments:  # The first call decides, however often it comes.
            mandate, payment = self.mandate(q), self.payment(q)
            played = self.played.get(q["subscription_id"], "succeed") if mandate else "hard"
            payment["status"] = {"succeed": "succeeded", "pending": "waiting"}.get(played, "failed")
            if payment["status"] == "failed":
                payment["more"] = {"refusal": played, "reason": "declined" if mandate else "mandate_ended"}
            names = ("payment_id", "order_id", "subscription_id", "period_index", "amount")
            payment["charge"] = {name: q[name] for name in names} | {"at": now, "reference": f"B-{q['payment_id']}"}
        payment = self.payments[q["payment_id"]]
        if payment["amount"] != q["amount"] or payment["status"] == "cancelled":
            return refuse("rejected", "closed" if payment["amount"] == q["amount"] else "amount_differs")
        return 200, {"payment": self.shown(q["payment_id"])}

    def verify(self, q, now):
        mandate = self.mandate(q)
        return (200, {"mandate": self.shown_mandate(mandate)}) if mandate else refuse("rejected", "unknown_mandate")

    def charges(self, q, now):
        paid = [payment["charge"] for payment in self.payments.values() if payment["status"] == "succeeded"]
        made = [charge for charge in paid
                if charge and charge["subscription_id"] == q["subscription_id"] and charge["at"] >= q["since"]]
        made.sort(key=lambda charge: (charge["at"], charge["payment_id"]))
        first = int(q.get("after") or 0)
        rest = {"next": str(first + 100)} if len(made) > first + 100 else {}
        return 200, {"charges": made[first:first + 100]} | rest

    def revoke(self, q, now):
        if mandate := self.mandate(q):
            mandate["active"] = False
        return 200, {"mandate": {"reference": q["mandate"]["reference"]}}

    def end(self, subscription):
        """The payer ends it, without Paydesk."""
        for mandate in self.mandates.values():
            mandate["active"] &= mandate["subscription"] != subscription
        ended = {"subscription_id": subscription, "status": "ended"}
        return f"evt_{uuid.uuid4().hex}", {"type": "mandate", "mandate": ended}

    def act(self, id, status, account=None):
        known = self.payments.get(id) or self.setups.get(id) or {}
        if known.get("status") != "waiting":
            return None  # Only what waits changes.
        known["status"] = status
        if status == "succeeded" and known["wanted"]:
            known["more"] = {"mandate": self.keep(f"M-{id}", known["wanted"]["subscription_id"], account or id)}
        if id in self.setups:
            return f"evt_{uuid.uuid4().hex}", {"type": "setup", "setup": self.shown_setup(id)}
        return f"evt_{uuid.uuid4().hex}", {"type": "payment", "payment": self.shown(id)}

    def rehearse(self, q, now):
        event, payment, told = q.get("event"), self.payments.get(q.get("payment_id")), None
        if q["call"] == "rehearsal/act":
            id, status = q.get("payment_id") or q["setup_id"], {"succeed": "succeeded", "fail": "failed"}
            told = self.act(id, status.get(q["act"], "other"))
        if q.get("charges"):
            self.played[q["subscription_id"]] = q["charges"]
        if q.get("ended"):
            told = self.end(q["subscription_id"])
        if event:
            said = self.shown_setup(event["setup_id"]) if event["type"] == "setup" else event
            told = event["id"], {"type": event["type"], event["type"]: said}
        headers, body = sealed(told[0], now, told[1]) if told else ({}, b"")
        taken = bool(told or q.get("charges"))
        return 200, {"payers_can_fail": True, "taken": taken, "payments": 1 if payment else 0,
                     "setups": 1 if q.get("setup_id") in self.setups else 0,
                     "refunds": list(payment["refunds"].values()) if payment else [],
                     "notification": told and {"headers": headers, "body": body.decode()}}


bank = Bank()
CALLS = {"manifest": lambda q, now: (200, MANIFEST), "payments/open": bank.open,
         "payments/query": lambda q, now: (200, {"payment": bank.shown(q["payment_id"])}),
         "payments/cancel": bank.cancel, "refunds/make": bank.refund, "refunds/query": bank.query_refund,
         "setups/open": bank.open_setup, "setups/cancel": bank.cancel_setup,
         "setups/query": lambda q, now: (200, {"setup": bank.shown_setup(q["setup_id"])}),
         "mandates/charge": bank.charge, "mandates/verify": bank.verify, "mandates/charges": bank.charges,
         "mandates/revoke": bank.revoke}
PLAYED = ("begin", "act", "effects", "notification", "mandates")
CALLS |= {f"rehearsal/{name}": bank.rehearse for name in PLAYED if REHEARSAL}


def notify(url, id, value):
    for pause in (0, 5, 60, 600, 3600):
        time.sleep(pause)
        headers, body = sealed(id, int(time.time()), value)  # The same event, signed anew: a signature ends.
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=10).close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        length, name = int(self.headers.get("content-length") or 0), self.path.strip("/")
        body = self.rfile.read(length) if 0 <= length <= LIMIT else b""
        now = int(REHEARSAL and self.headers.get("rehearsal-time") or time.time())
        with bank.lock:
            if name.startswith("pay/"):  # The button of the page below.
                id, account = name[4:], urllib.parse.parse_qs(body.decode("utf-8", "replace")).get("account", [None])[0]
                if told := bank.act(id, "succeeded", account):
                    url = (bank.payments.get(id) or bank.setups[id])["notify_url"]
                    threading.Thread(target=notify, args=(url, *told)).start()
                return self.answer(303, {"location": f"/{name}"}, b"")
            if name not in CALLS or length > LIMIT or not is_genuine(self.headers, body, now):
                return self.answer(401 if name in CALLS else 404, {}, b"")
            try:
                q = json.loads(body)
                status, value = CALLS[name](q, now) if q["call"] == name else (400, {})  # Signed for another path.
            except (ValueError, KeyError, TypeError):
                status, value = 400, {}
        self.answer(status, *sealed("re_" + self.headers["webhook-id"], now, value))

    def do_GET(self):
        id = self.path.removeprefix("/pay/")
        known = bank.payments.get(id) or bank.setups.get(id) or {"status": "unknown"}
        terms = html.escape((known.get("wanted") or {}).get("terms", ""))
        account = f"<p>{terms}<p><label>Account <input name=account></label>" if terms else ""
        page = (f"<!doctype html>{known['status']} {known.get('amount', '')}"
                f"<form method=post>{account}<button>Pay</button></form>")
        self.answer(200, {"content-type": "text/html; charset=utf-8"}, page.encode())

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in (headers | {"content-length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
print("ready", flush=True)
server.serve_forever()
