"""Mints webhook notifications as PayPal signs them, with the cryptography package and zlib's CRC32.

Argument: as JSON {"folder", "webhook_id", "certificate_url", "now", "bodies"}. Makes a chain of its own, writes root.pem,
chain.pem and ended.pem to the folder, and one JSON object {"name", "good", "chain", "headers", "body"} a line.
"""

import base64
import datetime
import json
import pathlib
import sys
import uuid
import zlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

settings = json.loads(sys.argv[1])
folder, now = pathlib.Path(settings["folder"]), settings["now"]


def moment(seconds: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


def name(common: str) -> x509.Name:
    return x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Mint"), x509.NameAttribute(NameOID.COMMON_NAME, common)]
    )


def certificate(common, key, issuer, signer, authority=False, until=86_400 * 365):
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(common))
        .issuer_name(name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(moment(now - 86_400 * 30))
        .not_valid_after(moment(now + until))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if not authority:
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(common)]), critical=False)
        builder = builder.add_extension(usage, critical=False)
    return builder.sign(signer, hashes.SHA256())


def pem(*certificates) -> bytes:
    return b"".join(one.public_bytes(serialization.Encoding.PEM) for one in certificates)


def make():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


root_key, middle_key, leaf_key = make(), make(), make()
HOST = "messageverificationcerts.paypal.com"
root = certificate("Mint Root", root_key, "Mint Root", root_key, authority=True)
middle = certificate("Mint CA", middle_key, "Mint Root", root_key, authority=True)
leaf = certificate(HOST, leaf_key, "Mint CA", middle_key)
ended = certificate(HOST, leaf_key, "Mint CA", middle_key, until=-3_600)
(folder / "root.pem").write_bytes(pem(root))
(folder / "chain.pem").write_bytes(pem(leaf, middle))
(folder / "ended.pem").write_bytes(pem(ended, middle))


def write(title, good, body, webhook=settings["webhook_id"], sent=now, chain="chain.pem", key=leaf_key, signed=None):
    stamp = moment(sent).strftime("%Y-%m-%dT%H:%M:%SZ")
    transmission = str(uuid.uuid4())
    text = f"{transmission}|{stamp}|{webhook}|{zlib.crc32((signed or body).encode()) & 0xFFFFFFFF}"
    signature = key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    headers = {
        "PAYPAL-TRANSMISSION-ID": transmission,
        "PAYPAL-TRANSMISSION-TIME": stamp,
        "PAYPAL-TRANSMISSION-SIG": base64.b64encode(signature).decode(),
        "PAYPAL-CERT-URL": settings["certificate_url"],
        "PAYPAL-AUTH-ALGO": "SHA256withRSA",
    }
    print(json.dumps({"name": title, "good": good, "chain": chain, "headers": headers, "body": body}))


for number, body in enumerate(settings["bodies"]):
    write(f"body {number}", True, body)
    write(f"body {number}, two days ago", True, body, sent=now - 2 * 86_400)
first = settings["bodies"][0]
write("another webhook", False, first, webhook="1JE4291016473214C")
write("four days ago", False, first, sent=now - 4 * 86_400)
write("from tomorrow", False, first, sent=now + 86_400)
write("tampered", False, first + " ", signed=first)
write("another key", False, first, key=middle_key)
write("an ended certificate", False, first, chain="ended.pem")
