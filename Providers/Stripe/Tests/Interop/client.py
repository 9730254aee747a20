"""Drives the stand-in of the tests with Stripe's own library, as any of Stripe's customers would drive Stripe.

Arguments: the base URL, the secret key. Writes "accepted N" after N checks, or fails at the first that does not hold.
"""

import sys
import time

import stripe

stripe.api_base, stripe.api_key = sys.argv[1:3]
stripe.max_network_retries = 0
checks = 0


def check(holds: bool, what: str) -> None:
    global checks
    checks += 1
    if not holds:
        sys.exit(f"does not hold: {what}")


def refusal(call, kind, code=None):
    try:
        call()
    except kind as error:
        check(code is None or error.code == code, f"{error.code} instead of {code}")
        check(bool(error.request_id), "a refusal has a request id")
    else:
        check(False, f"no {kind.__name__}")


def intent(key=None, **more):
    return stripe.PaymentIntent.create(
        amount=3990,
        currency="usd",
        automatic_payment_methods={"enabled": True},
        metadata={"payment_id": "pay_1", "order_id": "a & b = é"},
        idempotency_key=key,
        **more,
    )


def intents():
    first = intent("key-1")
    check(first.status == "requires_payment_method", "a new PaymentIntent waits")
    check(first.metadata["order_id"] == "a & b = é", "metadata are kept")
    again = intent("key-1")
    check(again.id == first.id, "a key makes one PaymentIntent")
    check(again.last_response.headers["idempotent-replayed"] == "true", "a replay says so")
    check(intent().id != first.id, "the library's own keys differ")
    refusal(lambda: intent("key-1", description="x"), stripe.IdempotencyError)
    refusal(lambda: intent(colour="red"), stripe.InvalidRequestError, "parameter_unknown")
    refusal(lambda: stripe.PaymentIntent.retrieve("pi_none"), stripe.InvalidRequestError, "resource_missing")
    found = stripe.PaymentIntent.list(limit=1, created={"gte": int(time.time()) - 600})
    check(len(list(found.auto_paging_iter())) == 2, "pages follow one another")
    stripe.PaymentIntent.search(query="metadata['payment_id']:'pay_1'")
    refusal(
        lambda: stripe.PaymentIntent.confirm(first.id, payment_method="pm_card_chargeDeclined"),
        stripe.CardError,
        "card_declined",
    )
    declined = stripe.PaymentIntent.retrieve(first.id)
    check(declined.last_payment_error.code == "card_declined", "a declined try is kept")
    paid = stripe.PaymentIntent.confirm(first.id, payment_method="pm_card_visa")
    check(paid.status == "succeeded" and paid.amount_received == 3990, "a good card pays")
    refusal(
        lambda: stripe.PaymentIntent.cancel(first.id),
        stripe.InvalidRequestError,
        "payment_intent_unexpected_state",
    )
    check(stripe.PaymentIntent.cancel(intent().id).status == "canceled", "an unpaid one is canceled")
    return first.id


def refunds(paid):
    def refund(amount, key=None):
        return stripe.Refund.create(
            payment_intent=paid, amount=amount, metadata={"refund_id": "ref_1"}, idempotency_key=key
        )

    first = refund(1000, "refund-1")
    check(refund(1000, "refund-1").id == first.id, "a key makes one refund")
    refusal(lambda: refund(3000), stripe.InvalidRequestError)
    refund(2990)
    refusal(lambda: refund(1), stripe.InvalidRequestError, "charge_already_refunded")
    check([one.amount for one in stripe.Refund.list(payment_intent=paid).data] == [2990, 1000], "refunds are listed")
    check(stripe.Refund.retrieve(first.id).status == "succeeded", "a refund is found")


def sessions():
    session = stripe.checkout.Session.create(
        mode="payment",
        line_items=[
            {
                "price_data": {"currency": "usd", "unit_amount": 3990, "product_data": {"name": "VIP"}},
                "quantity": 1,
            }
        ],
        success_url="https://app.example/done",
        client_reference_id="pay_2",
        expires_at=int(time.time()) + 3600,
        metadata={"payment_id": "pay_2"},
        payment_intent_data={"metadata": {"payment_id": "pay_2"}},
        payment_method_types=["card"],
    )
    check(session.status == "open" and session.url.startswith("https://"), "a session has a page")
    check(session.amount_total == 3990 and session.payment_status == "unpaid", "a session waits")
    known = stripe.checkout.Session.retrieve(session.id, expand=["payment_intent"])
    check(known.id == session.id, "a session is found")
    expired = stripe.checkout.Session.expire(session.id)
    check(expired.status == "expired" and expired.url is None, "a session is closed")
    refusal(lambda: stripe.checkout.Session.expire(session.id), stripe.InvalidRequestError)


def mandates():
    def customer(key=None):
        return stripe.Customer.create(metadata={"subscription_id": "sub_1"}, idempotency_key=key)

    def setup(**more):
        return stripe.SetupIntent.create(
            customer=own.id, usage="off_session", payment_method_types=["card"], metadata={"setup_id": "stp_1"}, **more
        )

    def given(card):
        return stripe.SetupIntent.confirm(setup().id, payment_method=card).payment_method

    def charge(method, customer=None, **more):
        return stripe.PaymentIntent.create(
            amount=3990,
            currency="usd",
            customer=customer or own.id,
            payment_method=method,
            payment_method_types=["card"],
            off_session=True,
            confirm=True,
            metadata={"payment_id": "pay_3", "charge": "mandate"},
            **more,
        )

    own = customer("customer-1")
    check(customer("customer-1").id == own.id, "a key makes one customer")
    check(len(stripe.Customer.search(query="metadata['subscription_id']:'sub_1'").data) == 1, "a customer is found")
    waiting = setup()
    check(waiting.status == "requires_payment_method", "a set-up waits")
    check(waiting.client_secret.startswith(waiting.id + "_secret_"), "a set-up has a secret of its own")
    check(stripe.SetupIntent.cancel(waiting.id).status == "canceled", "a set-up is canceled")
    refusal(
        lambda: stripe.SetupIntent.confirm(waiting.id, payment_method="pm_card_visa"),
        stripe.InvalidRequestError,
        "setup_intent_unexpected_state",
    )
    good = given("pm_card_visa")
    method = stripe.PaymentMethod.retrieve(good)
    check(method.customer == own.id and method.card.last4 == "4242", "a set-up attaches the card")
    check(charge(good).status == "succeeded", "a card is charged without its payer")
    refusal(lambda: charge(good, setup_future_usage="off_session"), stripe.InvalidRequestError)
    refusal(lambda: charge(good, customer="cus_none"), stripe.InvalidRequestError, "resource_missing")
    for card, code in [
        ("pm_card_chargeCustomerFail", "card_declined"),
        ("pm_card_authenticationRequired", "authentication_required"),
    ]:
        try:
            charge(given(card))
            check(False, f"{card} is refused")
        except stripe.CardError as error:
            check(error.code == code, f"{error.code} instead of {code}")
            refused = error.error.payment_intent.id
        check(stripe.PaymentIntent.retrieve(refused).status == "requires_payment_method", "it could be tried again")
        check(stripe.PaymentIntent.cancel(refused).status == "canceled", "until it is canceled")
    check(len(stripe.PaymentIntent.list(customer=own.id).data) == 3, "a customer's charges are listed")
    check(stripe.PaymentMethod.detach(good).customer is None, "a card is detached")
    refusal(lambda: charge(good), stripe.InvalidRequestError, "resource_missing")
    page = stripe.checkout.Session.create(
        mode="setup",
        customer=own.id,
        payment_method_types=["card"],
        success_url="https://app.example/done",
        metadata={"setup_id": "stp_2"},
        setup_intent_data={"metadata": {"setup_id": "stp_2"}},
    )
    check(page.mode == "setup" and page.url.startswith("https://"), "a set-up has a page")
    check(stripe.checkout.Session.expire(page.id).status == "expired", "and its page is closed")
    check(stripe.Customer.delete(own.id).deleted is True, "a customer is deleted")


refunds(intents())
sessions()
mandates()
stripe.api_key = "sk_test_another"
refusal(intent, stripe.AuthenticationError)
print(f"accepted {checks}")
