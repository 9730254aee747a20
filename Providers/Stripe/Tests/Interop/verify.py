"""Verifies webhook signatures with Stripe's own library.

Reads one JSON object a line, {"header", "body", "secret"}, and writes "accept" or the name of the refusal for each.
"""

import json
import sys

import stripe


def verdict(question: dict) -> str:
    try:
        event = stripe.Webhook.construct_event(
            question["body"].encode(), question["header"], question["secret"]
        )
        return "accept" if event.object == "event" else "no event"
    except Exception as refusal:
        return type(refusal).__name__


for line in sys.stdin:
    print(verdict(json.loads(line)))
