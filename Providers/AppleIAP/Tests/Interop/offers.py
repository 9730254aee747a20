"""Signs offers with Apple's library and says what it would have said in the place of ours.

Reads one JSON object, {"pem", "key_id", "issuer", "bundle", "product", "offer", "transaction", "username", "nonce",
"timestamp", "signature", "jws": [promotional, bare, introductory]}, and writes one line for each of ours: "same", or
what differs. Exits with 3 where a package is missing.
"""

import base64
import json
import sys

try:
    import jwt
    from appstoreserverlibrary.jws_signature_creator import (
        IntroductoryOfferEligibilitySignatureCreator, PromotionalOfferV2SignatureCreator,
    )
    from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
except ImportError:
    sys.exit(3)

given = json.load(sys.stdin)
pem = given["pem"].encode()
public = load_pem_private_key(pem, None).public_key()
account = (pem, given["key_id"], given["issuer"], given["bundle"])


def told(jws: str, audience: str) -> tuple[dict, dict]:
    return jwt.get_unverified_header(jws), jwt.decode(jws, public, algorithms=["ES256"], audience=audience)


def verdict(ours: str, theirs: str, audience: str) -> str:
    (header, claims), (their_header, their_claims) = told(ours, audience), told(theirs, audience)
    if header != their_header:
        return f"header {header}"
    if {n: type(v) for n, v in claims.items()} != {n: type(v) for n, v in their_claims.items()}:
        return f"claims {sorted(claims)}"
    changing = {"nonce": "", "iat": 0}
    return "same" if claims | changing == their_claims | changing else f"values {claims}"


promotional = PromotionalOfferV2SignatureCreator(*account)
print(verdict(
    given["jws"][0], promotional.create_signature(given["product"], given["offer"], given["transaction"]),
    "promotional-offer"))
print(verdict(
    given["jws"][1], promotional.create_signature(given["product"], given["offer"], None), "promotional-offer"))
introductory = IntroductoryOfferEligibilitySignatureCreator(*account)
print(verdict(
    given["jws"][2], introductory.create_signature(given["product"], False, given["transaction"]),
    "introductory-offer-eligibility"))


class Recording:
    """A key that remembers the text which it signs."""

    def __init__(self, key):
        self.key, self.text = key, b""

    def sign(self, text, algorithm):
        self.text = text
        return self.key.sign(text, algorithm)


legacy = PromotionalOfferSignatureCreator(pem, given["key_id"], given["bundle"])
legacy._signing_key = Recording(legacy._signing_key)
legacy.create_signature(
    given["product"], given["offer"], given["username"], given["nonce"], given["timestamp"])
try:
    public.verify(base64.b64decode(given["signature"], validate=True), legacy._signing_key.text, ec.ECDSA(hashes.SHA256()))
    print("same")
except InvalidSignature:
    print("another text is signed")
