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


def setup_call(name, setup, subscription):
    return call("plugin", f"{name}_setup", models.SetupCall(
        call=models.SetupCallCall(f"setups/{name}"), setup_id=setup, subscription_id=subscription)).parsed.setup


def open_setup(setup, subscription):
    return call("plugin", "open_setup", models.OpenSetupCall(
        call="setups/open", setup_id=setup, subscription_id=subscription, currency="CNY", title="VIP",
        terms="39.90 a month", platform="web", notify_url="https://pay.example/v1/notify/x", expires_at=2_000_000_000,
        accepts=[models.ContractType.URL]))


def charge(payment, subscription, reference):
    return call("plugin", "charge_mandate", models.ChargeCall(
        call="mandates/charge", payment_id=payment, order_id=new("ord_"), subscription_id=subscription, period_index=1,
        amount=whole, title="VIP", mandate=models.MandateIDs(reference=reference))).parsed.payment


def mandate_call(name, subscription, reference):
    return call("plugin", f"{name}_mandate", models.MandateCall(
        call=models.MandateCallCall(f"mandates/{name}"), subscription_id=subscription,
        mandate=models.MandateIDs(reference=reference)))


def played(subscription, **how):
    return call("rehearsal", "rehearsal_mandates", models.PlayCall(
        call="rehearsal/mandates", subscription_id=subscription, **how)).parsed


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
subscription, setup = new("sub_"), new("stp_")
check(manifest.mandates is True, "the manifest's mandates")
check(setup_call("query", setup, subscription).status == "not_found", "a set-up before its opening")
check(open_setup(setup, subscription).parsed.setup.status == "waiting", "the opening of a set-up")
told = call("rehearsal", "rehearsal_act", models.ActCall(
    call="rehearsal/act", setup_id=setup, act=models.ActCallAct("succeed"))).parsed
event = models.Notification.from_dict(
    signer.verify(told.notification.body, told.notification.headers.additional_properties))
check(event.type_ == "setup" and event.setup.setup_id == setup, "the notification of a set-up")
mandate = setup_call("query", setup, subscription).mandate
check(event.setup.mandate.reference == mandate.reference, "the mandate of a set-up")
verified = mandate_call("verify", subscription, mandate.reference).parsed.mandate
check(verified.reference == mandate.reference, "a mandate")
check(mandate_call("verify", new("sub_"), mandate.reference).status_code == 409, "another's mandate")
renewal = new("pay_")
for _ in range(2):
    charged = charge(renewal, subscription, mandate.reference)
    check(charged.status == "succeeded" and charged.amount == whole, "a charge")
listed = call("plugin", "list_charges", models.ChargesCall(
    call="mandates/charges", subscription_id=subscription, mandate=models.MandateIDs(reference=mandate.reference),
    since=0)).parsed.charges
check([made.payment_id for made in listed] == [renewal] and listed[0].amount == whole, "the list of charges")
check(played(subscription, charges=models.PlayCallCharges("soft")).taken, "how charges are played")
check(charge(new("pay_"), subscription, mandate.reference).refusal == "soft", "a refused charge")
letter = played(subscription, ended=True).notification
event = signer.verify(letter.body, letter.headers.additional_properties)
check(models.Notification.from_dict(event).mandate.status == "ended", "the notification of a mandate's end")
check(charge(new("pay_"), subscription, mandate.reference).refusal == "hard", "the charge of a mandate that has ended")
check(mandate_call("revoke", subscription, mandate.reference).status_code == 200, "a mandate that is revoked")
late = new("stp_")
check(setup_call("cancel", late, subscription).status == "cancelled", "a set-up that is cancelled before its opening")
check(open_setup(late, subscription).status_code == 409, "the opening of a set-up that is closed")
refused = httpx.post(f"{base}/payments/open", content=b"{}", headers={"webhook-id": "x"}, timeout=10)
check(refused.status_code == 401, "a call without a signature")
print(f"accepted {checks}")
