"""Verifies webhook messages with the `standardwebhooks` package.

Reads one JSON object a line, {"secret", "headers", "body"}, and writes "accept" or the name of the refusal for each.
"""

import json
import sys

from standardwebhooks.webhooks import Webhook


def verdict(message: dict) -> str:
    try:
        Webhook(message["secret"]).verify(message["body"].encode(), message["headers"])
        return "accept"
    except Exception as refusal:
        return type(refusal).__name__


for line in sys.stdin:
    print(verdict(json.loads(line)))
