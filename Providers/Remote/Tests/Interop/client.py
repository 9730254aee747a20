"""Drives a plugin with a client that openapi-python-client makes from openapi.yaml, and Standard Webhooks' own library.

Arguments: the document, the plugin's address, its secret. The plugin is in its rehearsal mode. Writes "accepted N" after
N checks, or fails at the first that does not hold.
"""

import datetime
import importlib
import subprocess
import sys
import tempfile
import uuid

import httpx
import openapi_python_client  # noqa: F401
import standardwebhooks

document, base, secret = sys.argv[1:4]
signer = standardwebhooks.Webhook(secret)
checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        sys.exit(f"does not hold: {what}")


folder = tempfile.TemporaryDirectory(prefix="remote-client-")
made = subprocess.run(
    [sys.executable, "-m", "openapi_python_client", "generate", "--path", document, "--meta", "none",
     "--output-path", f"{folder.name}/paydesk_remote"],
    capture_output=True, text=True)
if made.returncode != 0:
    sys.exit(f"the generator refuses the document: {made.stdout} {made.stderr}")
sys.path.insert(0, folder.name)
api = importlib.import_module("paydesk_remote.api.plugin")
models = importlib.import_module("paydesk_remote.models")
Client = importlib.import_module("paydesk_remote").Client


def sign(request):
    """Over the bytes that are sent, whatever the generated code put into the headers."""
    now = datetime.datetime.now(tz=datetime.timezone.utc)
    request.headers["webhook-timestamp"] = str(int(now.timestamp()))
    request.headers["rehearsal-time"] = request.headers["webhook-timestamp"]
    request.headers["webhook-signature"] = signer.sign(request.headers["webhook-id"], now, request.content.decode())


def verify(response):
    """The library throws where the answer is not signed; the id is this call's."""
    response.read()
    if response.status_code in (200, 409, 501, 503, 504):
        signer.verify(response.content, dict(response.headers))
        check(response.headers["webhook-id"] == "re_" + response.request.headers["webhook-id"], "the answer's id")


client = Client(base_url=base, raise_on_unexpected_status=True)
client.set_httpx_client(
    httpx.Client(base_url=base, event_hooks={"request": [sign], "response": [verify]}, timeout=10))


def call(module, name, body):
    function = importlib.import_module(f"paydesk_remote.api.{module}.{name}").sync_detailed
    # The hook writes the real ones.
    more = {"rehearsal_time": "0"} if module == "rehearsal" else {}
    return function(
        client=client, body=body, webhook_id=f"msg_{uuid.uuid4().hex}", webhook_timestamp="0", webhook_signature="",
        **more)


def new(prefix):
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    number = uuid.uuid4().int
    return prefix + "".join(alphabet[(number >> (5 * place)) & 31] for place in range(26))


def payment_call(name, payment, amount):
    return call("plugin", f"{name}_payment", models.PaymentCall(
        call=models.PaymentCallCall(f"payments/{name}"), payment_id=payment, amount=amount)).parsed.payment


def refund_call(name, payment, refund, amount, whole):
    return call("plugin", f"{name}_refund", models.RefundCall(
        call=models.RefundCallCall(f"refunds/{name}"), refund_id=refund, payment_id=payment, amount=amount,
        payment_amount=whole, reason="interop"))


def opening(payment, amount):
    return call("plugin", "open_payment", models.OpenCall(
        call="payments/open", payment_id=payment, order_id=new("ord_"), amount=amount, title="VIP", platform="web",
        notify_url="https://pay.example/v1/notify/x", expires_at=2_000_000_000, accepts=[models.ContractType.URL]))


def acted(payment, act):
    return call("rehearsal", "rehearsal_act", models.ActCall(
        call="rehearsal/act", payment_id=payment, act=models.ActCallAct(act))).parsed


manifest = call("plugin", "manifest", models.ManifestCall(call="manifest")).parsed
check(manifest.protocol == 1 and models.ContractType.URL in manifest.contract_types, "the manifest")
whole, part = models.Money(value=3990, currency="CNY"), models.Money(value=1000, currency="CNY")
payment = new("pay_")
check(payment_call("query", payment, whole).status == "not_found", "a payment before its opening")
opened = opening(payment, whole).parsed
check(opened.payment.status == "waiting" and opened.payment.amount == whole, "an opening")
check(opened.contract.checkout_url.startswith("http"), "a contract")
check(opening(payment, whole).parsed.contract == opened.contract, "the same opening again")
check(opening(payment, part).parsed.error.reason == "amount_differs", "an opening with another amount")
told = acted(payment, "succeed")
check(told.taken, "the payer's act")
event = signer.verify(told.notification.body, told.notification.headers.additional_properties)
check(event["type"] == "payment" and event["payment"]["status"] == "succeeded", "the notification")
check(models.Notification.from_dict(event).payment.amount == whole, "the notification's amount")
check(payment_call("query", payment, whole).status == "succeeded", "a paid payment")
check(payment_call("cancel", payment, whole).status == "succeeded", "a cancel that is too late")
refund = new("ref_")
check(refund_call("query", payment, refund, part, whole).parsed.refund.status == "not_found", "a refund before it")
for _ in range(2):
    check(refund_call("make", payment, refund, part, whole).parsed.refund.status == "succeeded", "a refund")
check(refund_call("make", payment, new("ref_"), whole, whole).status_code == 409, "a refund of too much")
effects = call("rehearsal", "rehearsal_effects", models.EffectsCall(
    call="rehearsal/effects", payment_id=payment)).parsed
check(effects.payments == 1 and effects.refunds == [part], "the effects")
closed = new("pay_")
check(payment_call("cancel", closed, whole).status == "cancelled", "a cancel before the opening")
check(opening(closed, whole).status_code == 409, "an opening of what is closed")
refused = httpx.post(f"{base}/payments/open", content=b"{}", headers={"webhook-id": "x"}, timeout=10)
check(refused.status_code == 401, "a call without a signature")
print(f"accepted {checks}")
