"""Mints notifications with the primitives of wechatpayv3 and of the cryptography package.

Arguments: a folder with platform.key and stranger.key, and as JSON {"mchid", "appid", "api_key",
"platform_serial", "payment", "refund", "now"}. Writes one JSON object {"name", "good", "headers", "body"} a line.
"""

import base64
import json
import pathlib
import secrets
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from wechatpayv3.utils import load_private_key, rsa_sign

folder, settings = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
platform = load_private_key((folder / "platform.key").read_text())
stranger = load_private_key((folder / "stranger.key").read_text())
now = settings["now"]

payment = {
    "mchid": settings["mchid"],
    "appid": settings["appid"],
    "out_trade_no": settings["payment"],
    "transaction_id": "4200001234202511210000000001",
    "trade_type": "NATIVE",
    "trade_state": "SUCCESS",
    "trade_state_desc": "支付成功",
    "bank_type": "CMC",
    "attach": "",
    "success_time": "2026-11-21T20:00:00+08:00",
    "payer": {"openid": "oUpF8uMuAJO_M2pxb1Q9zNjWeS6o"},
    "amount": {"total": 3990, "payer_total": 3990, "currency": "CNY", "payer_currency": "CNY"},
}
refund = {
    "mchid": settings["mchid"],
    "transaction_id": "4200001234202511210000000001",
    "out_trade_no": settings["payment"],
    "refund_id": "50300001234202511210000000001",
    "out_refund_no": settings["refund"],
    "refund_status": "SUCCESS",
    "success_time": "2026-11-21T20:00:00+08:00",
    "user_received_account": "招商银行信用卡0403",
    "amount": {"total": 3990, "refund": 1000, "payer_total": 3990, "payer_refund": 1000},
}


def body(event: str, kind: str, content: dict, key: str = settings["api_key"], nonce: str = "", extra: str = "?") -> str:
    nonce = nonce or secrets.token_hex(6)
    extra = kind if extra == "?" else extra
    sealed = AESGCM(key.encode()).encrypt(
        nonce.encode(), json.dumps(content, ensure_ascii=False).encode(), extra.encode()
    )
    return json.dumps(
        {
            "id": "EV-" + secrets.token_hex(8),
            "create_time": "2026-11-21T20:00:00+08:00",
            "resource_type": "encrypt-resource",
            "event_type": event,
            "summary": "成功",
            "resource": {
                "original_type": kind,
                "algorithm": "AEAD_AES_256_GCM",
                "ciphertext": base64.b64encode(sealed).decode(),
                "associated_data": extra,
                "nonce": nonce,
            },
        },
        ensure_ascii=False,
    )


def write(name, good, text, key=platform, serial=settings["platform_serial"], time=now, signed=None, probe=""):
    nonce = secrets.token_hex(16)
    signature = rsa_sign(key, f"{time}\n{nonce}\n{text if signed is None else signed}\n")
    headers = {
        "Wechatpay-Timestamp": str(time),
        "Wechatpay-Nonce": nonce,
        "Wechatpay-Signature": probe + signature,
        "Wechatpay-Serial": serial,
        "Wechatpay-Signature-Type": "WECHATPAY2-SHA256-RSA2048",
    }
    print(json.dumps({"name": name, "good": good, "headers": headers, "body": text}))


paid = body("TRANSACTION.SUCCESS", "transaction", payment)
write("paid", True, paid)
write("refunded", True, body("REFUND.SUCCESS", "refund", refund))
write("refund abnormal", True, body("REFUND.ABNORMAL", "refund", {**refund, "refund_status": "ABNORMAL"}))
write("refund closed", True, body("REFUND.CLOSED", "refund", {**refund, "refund_status": "CLOSED"}))
write("empty associated data", True, body("TRANSACTION.SUCCESS", "transaction", payment, extra=""))
write("299 s old", True, paid, time=now - 299)
write("301 s old", False, paid, time=now - 301)
write("301 s ahead", False, paid, time=now + 301)
write("tampered", False, paid + " ", signed=paid)
write("another's key", False, paid, key=stranger)
write("another's serial", False, paid, key=stranger, serial="6666")
write("a probe", False, paid, probe="WECHATPAY/SIGNTEST/")
write("another APIv3 key", False, body("TRANSACTION.SUCCESS", "transaction", payment, key="k" * 32))
write("a nonce of 16", False, body("TRANSACTION.SUCCESS", "transaction", payment, nonce="0123456789abcdef"))
write("another merchant", False, body("TRANSACTION.SUCCESS", "transaction", {**payment, "mchid": "1900000009"}))
write("another app", False, body("TRANSACTION.SUCCESS", "transaction", {**payment, "appid": "wx9"}))
