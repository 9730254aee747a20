"""Mints Apple Pay payment tokens, with certificates of its own, and prints them as one JSON document.

Usage: mint.py COUNT SECONDS

COUNT tokens of each version are signed at SECONDS since 1970-01-01 UTC: certificates and cryptography by the
`cryptography` package, the CMS message by hand, every second one in BER of indefinite length.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
from datetime import datetime, timedelta, timezone

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.x509.oid import NameOID

MERCHANT = "merchant.com.example.interop"
APPLE = "1.2.840.113635.100.6."
ENCODING = serialization.Encoding


def tlv(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    octets = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(octets)]) + octets + content


def endless(tag: int, *parts: bytes) -> bytes:
    return bytes([tag, 0x80]) + b"".join(parts) + b"\0\0"


def oid(dotted: str) -> bytes:
    first, second, *rest = (int(number) for number in dotted.split("."))
    octets = b""
    for number in [first * 40 + second, *rest]:
        group = [number & 0x7F]
        while number := number >> 7:
            group.insert(0, number & 0x7F | 0x80)
        octets += bytes(group)
    return tlv(0x06, octets)


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text), x509.NameAttribute(NameOID.COUNTRY_NAME, "US")])


def certify(subject, key, issuer, signer, now, extensions, authority=False, user=None):
    attributes = [x509.NameAttribute(NameOID.USER_ID, user)] if user else []
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(attributes + list(name(subject))))
        .issuer_name(issuer.subject if issuer else name(subject))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=30))
        .not_valid_after(now + timedelta(days=700))
        .add_extension(x509.BasicConstraints(authority, None), critical=True)
    )
    for dotted, value in extensions.items():
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier(APPLE + dotted), value), critical=False
        )
    digest = hashes.SHA384() if isinstance(getattr(signer, "curve", None), ec.SECP384R1) else hashes.SHA256()
    return builder.sign(signer, digest)


def sign(content: bytes, leaf, key, authority, now: datetime, indefinite: bool) -> bytes:
    digest_id = tlv(0x30, oid("2.16.840.1.101.3.4.2.1"), b"\x05\0")
    is_rsa = isinstance(key, rsa.RSAPrivateKey)
    signature_id = (
        tlv(0x30, oid("1.2.840.113549.1.1.11"), b"\x05\0") if is_rsa else tlv(0x30, oid("1.2.840.10045.4.3.2"))
    )
    time = tlv(0x17, now.strftime("%y%m%d%H%M%SZ").encode())
    values = {
        "1.2.840.113549.1.9.3": oid("1.2.840.113549.1.7.1"),
        "1.2.840.113549.1.9.4": tlv(0x04, hashlib.sha256(content).digest()),
        "1.2.840.113549.1.9.5": time,
    }
    members = b"".join(sorted(tlv(0x30, oid(kind), tlv(0x31, value)) for kind, value in values.items()))
    signed = tlv(0x31, members)
    signature = (
        key.sign(signed, padding.PKCS1v15(), hashes.SHA256()) if is_rsa else key.sign(signed, ec.ECDSA(hashes.SHA256()))
    )
    serial = leaf.serial_number.to_bytes(leaf.serial_number.bit_length() // 8 + 1, "big")
    signer = tlv(
        0x30,
        b"\x02\x01\x01",
        tlv(0x30, leaf.issuer.public_bytes(), tlv(0x02, serial)),
        digest_id,
        tlv(0xA0, members),
        signature_id,
        tlv(0x04, signature),
    )
    wrap = endless if indefinite else tlv
    body = wrap(
        0x30,
        b"\x02\x01\x01",
        tlv(0x31, digest_id),
        wrap(0x30, oid("1.2.840.113549.1.7.1")),
        wrap(0xA0, leaf.public_bytes(ENCODING.DER), authority.public_bytes(ENCODING.DER)),
        tlv(0x31, signer),
    )
    return wrap(0x30, oid("1.2.840.113549.1.7.2"), wrap(0xA0, body))


def spki(key) -> bytes:
    return key.public_key().public_bytes(ENCODING.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def token(number, version, merchant, leaf, leaf_key, authority, now):
    identity = hashlib.sha256(MERCHANT.encode()).digest()
    if version == "EC_v1":
        ephemeral = ec.generate_private_key(ec.SECP256R1())
        # The first token's secret begins with a zero.
        while number == 0 and ephemeral.exchange(ec.ECDH(), merchant.public_key())[0]:
            ephemeral = ec.generate_private_key(ec.SECP256R1())
        secret = ephemeral.exchange(ec.ECDH(), merchant.public_key())
        key = hashlib.sha256(b"\0\0\0\1" + secret + b"\x0did-aes256-GCM" + b"Apple" + identity).digest()
        field, envelope = "ephemeralPublicKey", spki(ephemeral)
    else:
        key = os.urandom(16)
        oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
        field, envelope = "wrappedKey", merchant.public_key().encrypt(key, oaep)
    amount = 100 + number
    payment = {
        "applicationPrimaryAccountNumber": "4000000000000002",
        "applicationExpirationDate": "301130",
        "currencyCode": "840",
        "transactionAmount": amount,
        "deviceManufacturerIdentifier": "040010030273",
        "paymentDataType": "3DSecure",
        "paymentData": {"onlinePaymentCryptogram": b64(os.urandom(20)), "eciIndicator": "5"},
    }
    data = AESGCM(key).encrypt(bytes(16), json.dumps(payment).encode(), None)
    transaction = os.urandom(32)
    application_data = f"order {number}".encode() if number % 2 else None
    digest = hashlib.sha256(application_data).digest() if application_data else b""
    signature = sign(envelope + data + transaction + digest, leaf, leaf_key, authority, now, number % 2 == 0)
    header = {
        "publicKeyHash": b64(hashlib.sha256(spki(merchant)).digest()),
        field: b64(envelope),
        "transactionId": transaction.hex(),
    }
    if digest:
        header["applicationData"] = digest.hex()
    data_text = {"version": version, "data": b64(data), "signature": b64(signature), "header": header}
    return {
        "token": json.dumps({"paymentData": data_text, "transactionIdentifier": transaction.hex().upper()}),
        "application_data": b64(application_data) if application_data else None,
        "amount": amount,
        "transaction_id": transaction.hex(),
    }


def main() -> None:
    count, seconds = int(sys.argv[1]), int(sys.argv[2])
    now = datetime.fromtimestamp(seconds, timezone.utc)
    root_key, ca_key = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP256R1())
    root = certify("Interop Root", root_key, None, root_key, now, {}, authority=True)
    authority = certify("Interop CA", ca_key, root, root_key, now, {"2.14": b"\x05\0"}, authority=True)
    marked = tlv(0x0C, hashlib.sha256(MERCHANT.encode()).hexdigest().upper().encode())
    merchants, tokens = [], []
    for version in ("EC_v1", "RSA_v1"):
        new = (
            (lambda: ec.generate_private_key(ec.SECP256R1()))
            if version == "EC_v1"
            else (lambda: rsa.generate_private_key(65537, 2048))
        )
        leaf_key, merchant = new(), new()
        leaf = certify(f"Interop broker {version}", leaf_key, authority, ca_key, now, {"29": b"\x05\0"})
        certificate = certify("Merchant", merchant, authority, ca_key, now, {"32": marked}, user=MERCHANT)
        secret = merchant.private_bytes(
            ENCODING.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        merchants.append({"certificate": certificate.public_bytes(ENCODING.PEM).decode(), "key": secret.decode()})
        tokens += [token(number, version, merchant, leaf, leaf_key, authority, now) for number in range(count)]
    document = {
        "root": b64(root.public_bytes(ENCODING.DER)),
        "merchant": MERCHANT,
        "merchants": merchants,
        "tokens": tokens,
    }
    json.dump(document, sys.stdout)


main()
