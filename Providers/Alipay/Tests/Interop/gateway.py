"""An Alipay gateway on the loopback interface, whose signatures are made and verified by `python-alipay-sdk`.

Arguments: a folder with application.pub, alipay.pem and alipay.pub, the port on 127.0.0.1 for Paydesk. For Alipay's own
client, which cannot take a port, it listens on 127.0.0.21:80 too where that is allowed. Writes "ready both" or
"ready one".

Beside gateway.do there are /pay?out_trade_no=…&status=…, which plays the payer and answers the signed notification, and
/visit?…, which verifies the address of a page.
"""

import http.server
import json
import pathlib
import sys
import threading
import urllib.parse

from alipay import AliPay

folder = pathlib.Path(sys.argv[1])
APP_ID, SELLER_ID = "2021000000000001", "2088000000000001"
PRIVATE, PUBLIC = (folder / "alipay.pem").read_text(), (folder / "alipay.pub").read_text()
# Alipay's side: it signs by its own key and verifies by the application's.
side = AliPay(APP_ID, None, PRIVATE, (folder / "application.pub").read_text())
# The merchant's side verifies what is told; nothing goes out that the library itself would refuse.
merchant = AliPay(APP_ID, None, PRIVATE, PUBLIC)
offers, trades = {}, {}


def fields(text):
    return dict(urllib.parse.parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text)))


def is_genuine(form):
    """The request's text as the library itself joins it for signing, `sign_type` within."""
    form = dict(form)
    sign = form.pop("sign", "")
    text = "&".join(f"{name}={value}" for name, value in side._ordered_data(form))
    return form.get("app_id") == APP_ID and form.get("sign_type") == "RSA2" and side._verify(text, sign)


def no(word):
    return {"code": "40004", "msg": "Business Failed", "sub_code": word, "sub_msg": "文/字"}


def precreate(content, number):
    offers[number] = content
    return {"out_trade_no": number, "qr_code": f"https://qr.alipay.com/bax{number[-8:]}"}


def query(content, number):
    trade = trades.get(number)
    if not trade:
        return no("ACQ.TRADE_NOT_EXIST")
    node = {"out_trade_no": number, "trade_no": "2026112122", "total_amount": offers[number]["total_amount"]}
    return node | {"trade_status": trade["status"], "buyer_logon_id": "a/b@example.com"}


def close(content, number):
    if trades.get(number, {}).get("status") != "WAIT_BUYER_PAY":
        return no("ACQ.TRADE_NOT_EXIST")
    trades[number]["status"] = "TRADE_CLOSED"
    return {"out_trade_no": number}


def refund(content, number):
    trade = trades.get(number)
    if not trade or trade["status"] != "TRADE_SUCCESS":
        return no("ACQ.TRADE_STATUS_ERROR")
    request = content["out_request_no"]
    is_new = request not in trade["refunds"]
    trade["refunds"].setdefault(request, content["refund_amount"])
    return {"out_trade_no": number, "fund_change": "Y" if is_new else "N", "refund_fee": content["refund_amount"]}


def refund_query(content, number):
    request = content["out_request_no"]
    made = trades.get(number, {"refunds": {}})["refunds"].get(request)
    if not made:
        return {}
    return {"out_trade_no": number, "out_request_no": request, "refund_amount": made, "refund_status": "REFUND_SUCCESS"}


METHODS = {
    "alipay.trade.precreate": precreate,
    "alipay.trade.query": query,
    "alipay.trade.close": close,
    "alipay.trade.refund": refund,
    "alipay.trade.fastpay.refund.query": refund_query,
}


def gateway(form):
    method = form.get("method", "")
    if not is_genuine(form):
        return json.dumps({"error_response": {"code": "40002", "msg": "x", "sub_code": "isv.invalid-signature"}})
    content = json.loads(form["biz_content"])
    node = {"code": "10000", "msg": "Success"} | METHODS[method](content, content["out_trade_no"])
    # As Alipay writes it: slashes are escaped, and that text is what is signed.
    text = json.dumps(node, ensure_ascii=False, separators=(",", ":")).replace("/", "\\/")
    return '{"%s_response":%s,"sign":"%s"}' % (method.replace(".", "_"), text, side._sign(text))


def pay(form):
    number, status = form["out_trade_no"], form["status"]
    trades.setdefault(number, {"refunds": {}})["status"] = status
    data = {
        "app_id": APP_ID, "seller_id": SELLER_ID, "charset": "utf-8", "version": "1.0", "passback_params": "",
        "notify_id": f"{number}-{status}", "notify_type": "trade_status_sync", "notify_time": "2026-11-21 18:00:00",
        "out_trade_no": number, "trade_no": "2026112122", "trade_status": status, "subject": "会员 A&B=C +/",
        "total_amount": offers[number]["total_amount"], "gmt_payment": "2026-11-21 17:59:58",
    }
    sign = side._sign("&".join(f"{name}={value}" for name, value in side._ordered_data(data)))
    assert merchant.verify(dict(data, sign_type="RSA2"), sign), "the library refuses its own notification"
    return urllib.parse.urlencode(dict(data, sign=sign, sign_type="RSA2"))


def visit(form):
    if not is_genuine(form):
        return "refused"
    content = json.loads(form["biz_content"])
    offers[content["out_trade_no"]] = content
    return f"{form['method']} {content['out_trade_no']} {content['total_amount']}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        address = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        form = fields(address.query) | fields(body)
        door = {"/gateway.do": gateway, "/pay": pay, "/visit": visit}[address.path]
        answer = door(form).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST

    def log_message(self, *_):
        pass


doors = [http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)]
try:
    doors.append(http.server.ThreadingHTTPServer(("127.0.0.21", 80), Handler))
except OSError:
    pass
for door in doors:
    threading.Thread(target=door.serve_forever).start()
print("ready both" if len(doors) == 2 else "ready one", flush=True)
