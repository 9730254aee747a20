"""Plays the payer of a set-up at localstripe with Stripe's own library, in a process of its own.

Arguments: the base URL, the secret key, a SetupIntent's client secret, the card: good or declined. Writes the
SetupIntent's status at last.
"""

import sys

import stripe

# The second card can be kept, and its charges are refused.
CARDS = {"good": "4242424242424242", "declined": "4000000000000341"}

base, stripe.api_key, secret, card = sys.argv[1:5]
stripe.api_base = base
setup = stripe.SetupIntent.retrieve(secret.split("_secret_")[0])
method = stripe.PaymentMethod.create(
    type="card", card={"number": CARDS[card], "exp_month": 12, "exp_year": 2040, "cvc": "123"}
)
# Stripe itself attaches the card when the set-up succeeds; localstripe does not.
stripe.PaymentMethod.attach(method.id, customer=setup.customer)
print(stripe.SetupIntent.confirm(setup.id, payment_method=method.id).status)
