"""Reads webhook events with Stripe's own library, as any of Stripe's customers would.

Reads one JSON object a line, {"header", "body", "secret"}, and writes the event's type, the class that the library gives
its object, the object's status, its amount and its currency; or the name of the refusal.
"""

import json
import sys

import stripe


def reading(question: dict) -> str:
    try:
        event = stripe.Webhook.construct_event(
            question["body"].encode(), question["header"], question["secret"]
        )
        thing = event.data.object
        amount = thing["amount_total"] if isinstance(thing, stripe.checkout.Session) else thing["amount"]
        return f"{event.type} {type(thing).__name__} {thing.status} {amount} {thing.currency}"
    except Exception as refusal:
        return type(refusal).__name__


for line in sys.stdin:
    print(reading(json.loads(line)))
