"""Drives the stand-in of the tests with wechatpayv3, as any merchant's server would drive WeChat Pay.

Arguments: the base URL, a folder with merchant.pem, platform.pem and pub_key.pem, and as JSON {"mchid", "appid",
"serial", "api_key", "platform_serial", "public_key_id", "mode"}. Reads notifications of the stand-in, one JSON object
{"headers", "body"} a line, and takes them with the library as well. Writes "accepted N" after N checks, or fails at the
first that does not hold.
"""

import json
import pathlib
import sys

import merchant
import wechatpayv3
from wechatpayv3 import WeChatPay, WeChatPayType

base, folder, settings = sys.argv[1], pathlib.Path(sys.argv[2]), json.loads(sys.argv[3])
checks = 0


def check(holds: bool, what: str) -> None:
    global checks
    checks += 1
    if not holds:
        sys.exit(f"does not hold: {what}")


def client() -> WeChatPay:
    if settings["mode"] == "public_key":
        mode = merchant.public_key(folder, settings)
    else:
        # It asks for the certificates when it is made, before its address can be changed, unless it has some.
        certificates = folder / "certificates"
        certificates.mkdir(exist_ok=True)
        (certificates / f"{settings['platform_serial']}.pem").write_text((folder / "platform.pem").read_text())
        mode = {"cert_dir": str(certificates)}
    made = merchant.client(WeChatPayType.NATIVE, folder, settings, **mode)
    made._core._gate_way = base
    if settings["mode"] != "public_key":
        made._core._update_certificates()
        check(len(made._core._certificates) == 1, "the certificates decrypt and are certificates")
    return made


def answer(call, status: int, what: str) -> dict:
    code, message = call
    check(code == status, f"{what}: {code} {message}")
    return json.loads(message) if message else {}


wechat = client()
order = {
    "description": "会员 / VIP",
    "out_trade_no": "python-order-1",
    "amount": {"total": 3990, "currency": "CNY"},
    "time_expire": "2099-01-01T00:00:00+08:00",
}
first = answer(wechat.pay(**order), 200, "an order is made")
check(first["code_url"].startswith("weixin://wxpay/"), "it has a code")
again = answer(wechat.pay(**order), 200, "the same order again")
check(again["code_url"] != first["code_url"], "each code is another")
answer(wechat.pay(**{**order, "description": "x"}), 400, "another order of that number")
page = answer(
    wechat.pay(
        **{**order, "out_trade_no": "python-order-2"},
        pay_type=WeChatPayType.H5,
        scene_info={"payer_client_ip": "203.0.113.9", "h5_info": {"type": "Wap"}},
    ),
    200,
    "a page",
)
check(page["h5_url"].startswith("https://"), "it has an address")
known = answer(wechat.query(out_trade_no="python-order-1"), 200, "a question")
check(known["trade_state"] == "NOTPAY" and known["amount"]["total"] == 3990, "it waits")
missing = answer(wechat.query(out_trade_no="python-order-9"), 404, "a question about none")
check(missing["code"] == "ORDER_NOT_EXIST", "there is none")
answer(wechat.close(out_trade_no="python-order-2"), 204, "it is closed")
check(answer(wechat.query(out_trade_no="python-order-2"), 200, "closed")["trade_state"] == "CLOSED", "it is closed")
closed = answer(wechat.pay(**{**order, "out_trade_no": "python-order-3", "description": "y"}), 200, "a third")
check(bool(closed["code_url"]), "a third has a code")
refund = {
    "out_trade_no": "paid-order-1",
    "out_refund_no": "python-refund-1",
    "amount": {"refund": 1000, "total": 3990, "currency": "CNY"},
}
made = answer(wechat.refund(**refund), 200, "a refund")
check(answer(wechat.refund(**refund), 200, "a repetition")["refund_id"] == made["refund_id"], "one number, one refund")
known = answer(wechat.query_refund("python-refund-1"), 200, "a question about a refund")
check(known["status"] == "PROCESSING" and known["amount"]["refund"] == 1000, "it is on its way")
answer(wechat.query_refund("python-refund-9"), 404, "a question about no refund")
answer(
    wechat.refund(**{**refund, "out_refund_no": "python-refund-2", "amount": {"refund": 2991, "total": 3990, "currency": "CNY"}}),
    400,
    "too much",
)
wechat._core._cert_serial_no = "77"
answer(wechat.query(out_trade_no="python-order-1"), 401, "another's serial number")

for line in sys.stdin:
    notice = json.loads(line)
    taken = wechat.callback(notice["headers"], notice["body"])
    check(bool(taken) and taken["resource"]["out_trade_no"] == notice["number"], "a notification is taken")
    altered = notice["body"].replace("TRANSACTION", "TRANSACTI0N").replace("REFUND.", "REFUMD.")
    check(altered != notice["body"], "something was altered")
    check(not wechat.callback(notice["headers"], altered), "an altered one is not")
print(f"accepted {checks}, wechatpayv3 {wechatpayv3.__version__}, {settings['mode']}")
