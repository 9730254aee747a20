"""Drives the stand-in of the tests with PayPal's own library, as any of PayPal's customers would drive PayPal.

Arguments: the base URL, the client id, the client secret. Plays the payer over the stand-in's own door, POST
{base}/approve/{custom id}. Writes "accepted N" after N checks, or fails at the first that does not hold.
"""

import json
import sys
import urllib.request

from paypalserversdk.api_helper import APIHelper
from paypalserversdk.configuration import Configuration, Environment, Server
from paypalserversdk.exceptions.error_exception import ErrorException
from paypalserversdk.http.auth.o_auth_2 import ClientCredentialsAuthCredentials
from paypalserversdk.models.amount_with_breakdown import AmountWithBreakdown
from paypalserversdk.models.checkout_payment_intent import CheckoutPaymentIntent
from paypalserversdk.models.money import Money
from paypalserversdk.models.order_request import OrderRequest
from paypalserversdk.models.payment_source import PaymentSource
from paypalserversdk.models.paypal_wallet import PaypalWallet
from paypalserversdk.models.paypal_wallet_experience_context import PaypalWalletExperienceContext
from paypalserversdk.models.purchase_unit_request import PurchaseUnitRequest
from paypalserversdk.models.refund_request import RefundRequest
from paypalserversdk.paypal_serversdk_client import PaypalServersdkClient

base, client_id, client_secret = sys.argv[1:4]
Configuration.environments[Environment.SANDBOX][Server.DEFAULT] = base
checks = 0


def check(holds: bool, what: str) -> None:
    global checks
    checks += 1
    if not holds:
        sys.exit(f"does not hold: {what}")


def client(secret: str) -> PaypalServersdkClient:
    return PaypalServersdkClient(
        client_credentials_auth_credentials=ClientCredentialsAuthCredentials(
            o_auth_client_id=client_id, o_auth_client_secret=secret
        ),
        environment=Environment.SANDBOX,
        timeout=10,
    )


def refusal(call, status: int, issue: str):
    try:
        call()
    except ErrorException as error:
        check(error.response.status_code == status, f"{error.response.status_code} instead of {status}")
        found = json.loads(error.response.text)["details"][0]["issue"]
        check(found == issue and bool(error.debug_id), f"{found} instead of {issue}")
    else:
        check(False, f"no {issue}")


def approve(custom: str):
    urllib.request.urlopen(urllib.request.Request(f"{base}/approve/{custom}", method="POST")).close()


paypal = client(client_secret)
orders, payments = paypal.orders, paypal.payments


def create(custom: str, value: str = "39.90", key: str = "key-1"):
    context = PaypalWalletExperienceContext(
        return_url="https://app.example/done", cancel_url="https://app.example/done", user_action="PAY_NOW"
    )
    # What the library adds by itself is not of the stand-in's concern.
    body = OrderRequest(
        intent=CheckoutPaymentIntent.CAPTURE,
        purchase_units=[
            PurchaseUnitRequest(
                amount=AmountWithBreakdown(currency_code="USD", value=value),
                reference_id=custom,
                custom_id=custom,
                invoice_id=custom,
                description="VIP / 会员",
            )
        ],
        payment_source=PaymentSource(paypal=PaypalWallet(experience_context=context)),
    )
    return orders.create_order({"body": body, "paypal_request_id": key, "prefer": "return=representation"}).body


first = create("pay_python_1")
check(first.status == "PAYER_ACTION_REQUIRED", f"a new order is {first.status}")
check(any(link.rel == "payer-action" and link.href.startswith("https://") for link in first.links), "it has a page")
check(first.purchase_units[0].custom_id == "pay_python_1", "it keeps our id")
check(create("pay_python_1").id == first.id, "a key makes one order")
refusal(lambda: create("pay_python_1", "1.00"), 422, "DUPLICATE_REQUEST_ID")
refusal(lambda: create("pay_python_2", "1,00", "key-2"), 400, "INVALID_PARAMETER_VALUE")
known = orders.get_order({"id": first.id}).body
check(known.id == first.id and known.purchase_units[0].amount.value == "39.90", "an order is found")
refusal(lambda: orders.get_order({"id": "NONE"}), 404, "INVALID_RESOURCE_ID")


def capture(order: str, key: str):
    return orders.capture_order({"id": order, "paypal_request_id": key, "prefer": "return=representation"}).body


refusal(lambda: capture(first.id, "capture-1"), 422, "ORDER_NOT_APPROVED")
approve("pay_python_1")
check(orders.get_order({"id": first.id}).body.status == "APPROVED", "the payer approved")
paid = capture(first.id, "capture-2")
taken = paid.purchase_units[0].payments.captures[0]
check(paid.status == "COMPLETED" and taken.status == "COMPLETED", "it is captured")
check(capture(first.id, "capture-2").purchase_units[0].payments.captures[0].id == taken.id, "a key captures once")
refusal(lambda: capture(first.id, "capture-3"), 422, "ORDER_ALREADY_CAPTURED")
found = payments.get_captured_payment({"capture_id": taken.id}).body
check(found.amount.value == "39.90" and found.custom_id == "pay_python_1", "a capture is found")


def refund(value: str, key: str):
    body = RefundRequest(
        amount=Money(currency_code="USD", value=value), invoice_id=f"ref_{key}", custom_id="pay_python_1"
    )
    return payments.refund_captured_payment(
        {"capture_id": taken.id, "paypal_request_id": key, "prefer": "return=representation", "body": body}
    ).body


made = refund("10.00", "refund-1")
check(made.status == "COMPLETED" and made.amount.value == "10.00", "a part is given back")
check(refund("10.00", "refund-1").id == made.id, "a key makes one refund")
check(payments.get_refund({"refund_id": made.id}).body.invoice_id == "ref_refund-1", "a refund is found")
refusal(lambda: refund("29.91", "refund-2"), 422, "REFUND_AMOUNT_EXCEEDED")
refund("29.90", "refund-3")
refusal(lambda: refund("0.01", "refund-4"), 422, "CAPTURE_FULLY_REFUNDED")
states = [one.status for one in orders.get_order({"id": first.id}).body.purchase_units[0].payments.captures]
check(states == ["REFUNDED"], f"the capture is {states}")
try:
    client("another secret").orders.get_order({"id": first.id})
except Exception as error:
    check("401" in str(getattr(error, "response_code", "")) or "token" in str(error).lower(), f"refused: {error}")
else:
    check(False, "another secret opens nothing")
print(f"accepted {checks}")
