"""Verifies signed snapshots with PyJWT, as an app would.

Reads one JSON object a line, {"token", "keys", "issuer", "user"}, and writes "accept" or the name of the refusal for each.
"""

import json
import sys

import jwt


def verdict(question: dict) -> str:
    try:
        header = jwt.get_unverified_header(question["token"])
        if header["typ"] != "paydesk-entitlements+jwt":
            return "WrongType"
        keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(question["keys"]).keys}
        claims = jwt.decode(
            question["token"],
            keys[header["kid"]].key,
            algorithms=["ES256"],
            issuer=question["issuer"],
            options={"require": ["iss", "sub", "iat", "exp"]},
            leeway=60,
        )
        return "accept" if claims["sub"] == question["user"] else "WrongUser"
    except Exception as refusal:
        return type(refusal).__name__


for line in sys.stdin:
    print(verdict(json.loads(line)))
