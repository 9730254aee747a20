"""Checks out, attaches and refunds by the client that openapi-python-client made into the folder paydesk_client.

usage: client.py URL ADMIN_KEY USER_TOKEN       in the folder that has paydesk_client
"""

import base64
import json
import sys
import time
import urllib.request
from datetime import datetime, timedelta, timezone

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID

sys.path.insert(0, ".")
from paydesk_client import AuthenticatedClient  # noqa: E402
from paydesk_client.api.app_store_purchases import attach_purchase  # noqa: E402
from paydesk_client.api.cashier import open_checkout  # noqa: E402
from paydesk_client.api.orders import read_order  # noqa: E402
from paydesk_client.api.orders_for_admins import refund_order  # noqa: E402
from paydesk_client.models import Checkout, Error, Money, NewRefund, OrderStatus, RefundAmount, URLContract  # noqa: E402
from paydesk_client.models.attach_purchase_body import AttachPurchaseBody  # noqa: E402
from paydesk_client.models.checkout_platform import CheckoutPlatform  # noqa: E402


def part(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def xcode_transaction(product: str) -> str:
    """A transaction as Xcode's StoreKit testing signs it, with a certificate of its own."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(timezone.utc)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "StoreKit Testing")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    certificate = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)
    at = int(time.time() * 1000)
    payload = {
        "transactionId": "0", "originalTransactionId": "0", "bundleId": "com.example.app", "productId": product,
        "purchaseDate": at, "originalPurchaseDate": at, "signedDate": at, "quantity": 1, "environment": "Xcode",
        "type": "Non-Renewing Subscription", "inAppOwnershipType": "PURCHASED",
    }
    header = {"alg": "ES256", "kid": "Apple_Xcode_Key", "typ": "JWT", "x5c": [base64.b64encode(certificate).decode()]}
    text = f"{part(header)}.{part(payload)}"
    r, s = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{text}.{part(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def main() -> None:
    url, admin_key, token = sys.argv[1:]
    user = AuthenticatedClient(base_url=url, token=token)
    admin = AuthenticatedClient(base_url=url, token=admin_key)

    refused = open_checkout.sync(client=user, body=Checkout(sku="no_such_sku", platform=CheckoutPlatform.WEB))
    assert isinstance(refused, Error) and refused.error == "sku_not_found", refused

    opened = open_checkout.sync(client=user, body=Checkout(sku="vip_month", platform=CheckoutPlatform.WEB))
    contract = opened.data
    assert isinstance(contract, URLContract) and contract.amount == Money(currency="CNY", value=3990), contract
    page = urllib.request.Request(contract.checkout_url, data=b"outcome=succeed", method="POST")
    urllib.request.urlopen(page).read()
    deadline = time.monotonic() + 10
    while (order := read_order.sync(id=contract.order_id, client=user).data).status != OrderStatus.PAID:
        assert time.monotonic() < deadline, order

    attached = attach_purchase.sync(
        client=user,
        body=AttachPurchaseBody(signed_transaction_jws=xcode_transaction("com.qinghe.qinghe.membership.month")),
    ).data
    assert attached.sku == "vip_month" and attached.environment == "Xcode", attached

    back = refund_order.sync(
        id=contract.order_id, client=admin, body=NewRefund(amount=RefundAmount(currency="CNY", value=990), reason="a test")
    ).data
    assert back.amount.value == 990, back
    order = read_order.sync(id=contract.order_id, client=user).data
    assert order.status == OrderStatus.PARTIALLY_REFUNDED and order.refunded.value == 990, order


main()
