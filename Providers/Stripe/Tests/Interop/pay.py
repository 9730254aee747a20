"""Plays the payer at localstripe with Stripe's own library, in a process of its own.

Arguments: the base URL, the secret key, a client secret, the card: good, declined or 3ds. Writes the PaymentIntent's
status at last.
"""

import sys
import urllib.parse
import urllib.request

import stripe

CARDS = {"good": "4242424242424242", "declined": "4000000000000341", "3ds": "4000002500003155"}

base, stripe.api_key, secret, card = sys.argv[1:5]
stripe.api_base = base
intent = secret.split("_secret_")[0]
method = stripe.PaymentMethod.create(
    type="card", card={"number": CARDS[card], "exp_month": 12, "exp_year": 2040, "cvc": "123"}
)
stripe.PaymentIntent.modify(intent, payment_method=method.id)
try:
    status = stripe.PaymentIntent.confirm(intent).status
except stripe.CardError as error:
    status = error.code
if status == "requires_action":
    # What the payer's browser does after 3-D Secure.
    form = urllib.parse.urlencode({"client_secret": secret, "success": "true", "key": "pk_test_browser"})
    urllib.request.urlopen(f"{base}/v1/payment_intents/{intent}/_authenticate", form.encode()).close()
    status = stripe.PaymentIntent.retrieve(intent).status
print(status)
