"""Finds a PaymentIntent at localstripe by our payment's id, with Stripe's own library: its lists know no time.

Arguments: the base URL, the secret key, the payment's id. Writes the PaymentIntent's id.
"""

import sys

import stripe

base, stripe.api_key, payment = sys.argv[1:4]
stripe.api_base = base
for intent in stripe.PaymentIntent.list(limit=100).data:
    if intent.metadata["payment_id"] == payment:
        print(intent.id)
