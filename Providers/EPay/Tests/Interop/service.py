"""An EPay (易支付) service of the common dialect on the loopback interface, written with Python's own library alone.

No independent Python package speaks this protocol, so this one is the project's own; it shares no code with
the provider. Arguments: the port, the merchant's id, its key. Writes "ready".

Beside submit.php, mapi.php and api.php there is /play?out_trade_no=…, which pays and answers the signed notification.
"""

import decimal
import hashlib
import http.server
import json
import sys
import urllib.parse

port, pid, key = int(sys.argv[1]), sys.argv[2], sys.argv[3]
orders = {}


def sign(form):
    named = {name: value for name, value in form.items() if value != "" and name not in ("sign", "sign_type")}
    text = "&".join(f"{name}={named[name]}" for name in sorted(named))
    return hashlib.md5((text + key).encode()).hexdigest()


def make(form):
    if form.get("pid") != pid or form.get("sign_type") != "MD5" or form.get("sign") != sign(form):
        return None
    order = {"money": decimal.Decimal(form["money"]), "status": 0, "form": form}
    return orders.setdefault(form["out_trade_no"], order)


def submit(form):
    return "pay here" if make(form) else "refused"


def mapi(form):
    if not make(form) or "clientip" not in form:
        return json.dumps({"code": -1, "msg": "签名校验失败"})
    code = "https://q.example/" + form["out_trade_no"][-8:]
    return json.dumps({"code": 1, "msg": "", "trade_no": "T" + form["out_trade_no"][-12:], "qrcode": code})


def api(form):
    if form.get("pid") != pid or form.get("key") != key:
        return json.dumps({"code": -3, "msg": "商户密钥错误"})
    if form["act"] == "query":
        return json.dumps({"code": 1, "pid": int(pid), "key": key, "active": 1})
    order = orders.get(form.get("out_trade_no"))
    if not order:
        return json.dumps({"code": -1, "msg": "订单号不存在"})
    if form["act"] == "refund":
        if order["status"] != 1 or decimal.Decimal(form["money"]) != order["money"]:
            return json.dumps({"code": -1, "msg": "当前订单不支持退款"})
        order["status"] = 2
        return json.dumps({"code": 1, "msg": "退款成功"})
    number = form["out_trade_no"]
    # As PHP writes a number: without zeros at its end.
    return json.dumps(
        {"code": 1, "pid": int(pid), "trade_no": "T" + number[-12:], "out_trade_no": number,
         "money": float(order["money"]), "status": order["status"]})


def play(form):
    order = orders[form["out_trade_no"]]
    order["status"] = 1
    told = {
        "pid": pid, "trade_no": "T" + form["out_trade_no"][-12:], "out_trade_no": form["out_trade_no"],
        "type": order["form"].get("type", "alipay"), "name": order["form"]["name"],
        "money": str(order["money"].normalize()), "trade_status": "TRADE_SUCCESS", "param": "",
    }
    return urllib.parse.urlencode(dict(told, sign=sign(told), sign_type="MD5"))


DOORS = {"/submit.php": submit, "/mapi.php": mapi, "/api.php": api, "/play": play}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        address = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        form = dict(urllib.parse.parse_qsl(address.query + "&" + body, keep_blank_values=True))
        answer = DOORS[address.path](form).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
print("ready", flush=True)
server.serve_forever()
