"""Asks Apple's own server library about JWS transactions: one verdict for each line of standard input.

Usage: interop.py ROOT.der BUNDLE_ID ENVIRONMENT [ENVIRONMENT ...] < lines > verdicts

Each line is one JWS as a JSON string. The answer is `accept`, or `refuse` and the library's reason; it is `accept`
where any of the environments accepts. Chains are checked offline, at the payload's signedDate.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

APP_APPLE_ID = 1234567890


def verdict(verifiers: list[SignedDataVerifier], jws: str) -> str:
    reasons = []
    for verifier in verifiers:
        try:
            verifier.verify_and_decode_signed_transaction(jws)
            return "accept"
        except VerificationException as refusal:
            reasons.append(refusal.status.name)
        except Exception as failure:  # the library lets some decoding errors through
            reasons.append(type(failure).__name__)
    return "refuse " + "/".join(reasons)


def main() -> None:
    root, bundle, *environments = sys.argv[1:]
    roots = [Path(root).read_bytes()]
    verifiers = [
        SignedDataVerifier(roots, False, Environment(name), bundle, APP_APPLE_ID) for name in environments
    ]
    for line in sys.stdin:
        print(verdict(verifiers, json.loads(line)), flush=False)


main()
