"""The merchant of the tests as a client of wechatpayv3."""

import pathlib

from wechatpayv3 import WeChatPay, WeChatPayType


def client(kind: WeChatPayType, folder: pathlib.Path, settings: dict, **mode) -> WeChatPay:
    """A client with the merchant's key in the folder; `mode` says how WeChat Pay's own signatures are verified."""
    return WeChatPay(
        wechatpay_type=kind,
        mchid=settings["mchid"],
        private_key=(folder / "merchant.pem").read_text(),
        cert_serial_no=settings["serial"],
        appid=settings["appid"],
        apiv3_key=settings["api_key"],
        notify_url="https://pay.example/v1/notify/wechat",
        timeout=(5, 10),
        **mode,
    )


def public_key(folder: pathlib.Path, settings: dict) -> dict:
    """The mode in which WeChat Pay signs with its public key."""
    return {"public_key": (folder / "pub_key.pem").read_text(), "public_key_id": settings["public_key_id"]}
