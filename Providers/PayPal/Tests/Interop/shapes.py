"""Holds our requests' bodies against the shapes of PayPal's own library, which is generated from its OpenAPI documents.

Reads one JSON object {"call", "body"} a line. A body is read into the library's model and written again; whatever has no
place in the model is lost on the way. Writes "accept" or what was lost.
"""

import json
import sys

from paypalserversdk.api_helper import APIHelper
from paypalserversdk.models.order_request import OrderRequest
from paypalserversdk.models.refund_request import RefundRequest

MODELS = {"orders": OrderRequest, "refund": RefundRequest}


def lost(ours, theirs, path: str = "") -> list:
    if isinstance(ours, dict):
        if not isinstance(theirs, dict):
            return [path]
        return [one for key, value in ours.items() for one in lost(value, theirs.get(key), f"{path}.{key}")]
    if isinstance(ours, list):
        if not isinstance(theirs, list) or len(ours) != len(theirs):
            return [path]
        return [one for index, value in enumerate(ours) for one in lost(value, theirs[index], f"{path}[{index}]")]
    return [] if ours == theirs else [path]


for line in sys.stdin:
    question = json.loads(line)
    model = MODELS[question["call"]].from_dictionary(question["body"])
    missing = lost(question["body"], APIHelper.to_dictionary(model)) if model else ["everything"]
    print("accept" if not missing else " ".join(missing))
