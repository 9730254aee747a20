"""Drives the gateway with Alipay's own library, as any of Alipay's customers would drive Alipay.

Argument: a folder with application.pem and alipay.pub. Writes "accepted N" after N checks, or fails at the first that
does not hold.
"""

import json
import pathlib
import sys
import urllib.request

from alipay.aop.api.AlipayClientConfig import AlipayClientConfig
from alipay.aop.api.DefaultAlipayClient import DefaultAlipayClient
from alipay.aop.api.domain.AlipayTradeFastpayRefundQueryModel import AlipayTradeFastpayRefundQueryModel
from alipay.aop.api.domain.AlipayTradePrecreateModel import AlipayTradePrecreateModel
from alipay.aop.api.domain.AlipayTradeQueryModel import AlipayTradeQueryModel
from alipay.aop.api.domain.AlipayTradeRefundModel import AlipayTradeRefundModel
from alipay.aop.api.request.AlipayTradeFastpayRefundQueryRequest import AlipayTradeFastpayRefundQueryRequest
from alipay.aop.api.request.AlipayTradePrecreateRequest import AlipayTradePrecreateRequest
from alipay.aop.api.request.AlipayTradeQueryRequest import AlipayTradeQueryRequest
from alipay.aop.api.request.AlipayTradeRefundRequest import AlipayTradeRefundRequest

folder = pathlib.Path(sys.argv[1])
BASE = "http://127.0.0.21"
checks = 0


def bare(name):
    return "".join(line for line in (folder / name).read_text().splitlines() if not line.startswith("-----"))


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        sys.exit(f"does not hold: {what}")


def client(private="application.pem", public="alipay.pub"):
    config = AlipayClientConfig()
    config.server_url = BASE + "/gateway.do"
    config.app_id = "2021000000000001"
    config.app_private_key, config.alipay_public_key = bare(private), bare(public)
    return DefaultAlipayClient(config)


def call(request, model, **fields):
    content = model()
    for name, value in fields.items():
        setattr(content, name, value)
    return json.loads(client().execute(request(biz_model=content)))


made = call(
    AlipayTradePrecreateRequest, AlipayTradePrecreateModel, out_trade_no="client-1", total_amount="39.90",
    subject="会员 A&B",
)
check(made["code"] == "10000" and made["qr_code"].startswith("https://qr.alipay.com/"), "a code is made")
absent = call(AlipayTradeQueryRequest, AlipayTradeQueryModel, out_trade_no="client-1")
check(absent["sub_code"] == "ACQ.TRADE_NOT_EXIST", "a code that nobody scanned has no trade")
urllib.request.urlopen(BASE + "/pay?out_trade_no=client-1&status=TRADE_SUCCESS").close()
paid = call(AlipayTradeQueryRequest, AlipayTradeQueryModel, out_trade_no="client-1")
check(paid["trade_status"] == "TRADE_SUCCESS" and paid["buyer_logon_id"] == "a/b@example.com", "it is paid")
back = call(
    AlipayTradeRefundRequest, AlipayTradeRefundModel, out_trade_no="client-1", refund_amount="10.00",
    out_request_no="refund-1",
)
check(back["fund_change"] == "Y", "money goes back")
known = call(
    AlipayTradeFastpayRefundQueryRequest, AlipayTradeFastpayRefundQueryModel, out_trade_no="client-1",
    out_request_no="refund-1",
)
check(known["refund_status"] == "REFUND_SUCCESS" and known["refund_amount"] == "10.00", "the refund is known")
try:
    request = AlipayTradeQueryRequest(biz_model=AlipayTradeQueryModel())
    client(public="application.pub").execute(request)
except Exception:
    checks += 1
else:
    sys.exit("the library believes another key's signature")
print(f"accepted {checks}")
