"""Signs the parameters for WeChat's libraries as `wechatpayv3` does.

Arguments: a folder with merchant.pem and pub_key.pem, and as JSON {"mchid", "appid", "serial", "api_key",
"public_key_id"}. Reads the four signed texts of each contract as a JSON list, one a line, and writes the library's
signature.
"""

import json
import pathlib
import sys

from wechatpayv3 import WeChatPay, WeChatPayType

folder, settings = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
client = WeChatPay(
    wechatpay_type=WeChatPayType.APP,
    mchid=settings["mchid"],
    private_key=(folder / "merchant.pem").read_text(),
    cert_serial_no=settings["serial"],
    appid=settings["appid"],
    apiv3_key=settings["api_key"],
    notify_url="https://pay.example/v1/notify/wechat",
    public_key=(folder / "pub_key.pem").read_text(),
    public_key_id=settings["public_key_id"],
)
for line in sys.stdin:
    print(client.sign(json.loads(line)))
