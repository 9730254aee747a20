"""Verifies our requests with wechatpayv3's own verification, over the request string of WeChat Pay's documentation.

Argument: the merchant's public key (PEM file). Reads one JSON object {"method", "target", "body", "authorization"} a
line and writes "accept" or the reason.
"""

import json
import pathlib
import re
import sys

from wechatpayv3.utils import load_public_key, rsa_verify

key = load_public_key(pathlib.Path(sys.argv[1]).read_text())
FORM = re.compile(
    r'WECHATPAY2-SHA256-RSA2048 mchid="(\d+)",nonce_str="([0-9A-Za-z]{1,32})",signature="([0-9A-Za-z+/=]+)",'
    r'timestamp="(\d+)",serial_no="([0-9A-F]+)"'
)


def verdict(request: dict) -> str:
    form = FORM.fullmatch(request["authorization"])
    if not form:
        return "another form"
    _, nonce, signature, time, _ = form.groups()
    # rsa_verify joins three lines; the first two of a request's five stand before the time.
    head = f"{request['method']}\n{request['target']}\n{time}"
    return "accept" if rsa_verify(head, nonce, request["body"], signature, key) else "bad signature"


for line in sys.stdin:
    print(verdict(json.loads(line)))
