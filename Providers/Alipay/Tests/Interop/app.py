"""Signs requests for Alipay's library inside an app as `python-alipay-sdk` does.

Argument: a folder with application.pem and alipay.pub. Reads requests of ours, one a line, and writes for each the
library's own, made of the same time, address and content.
"""

import pathlib
import sys
import urllib.parse

from alipay import AliPay

folder = pathlib.Path(sys.argv[1])
app = (folder / "application.pem").read_text()
client = AliPay("2021000000000001", None, app, (folder / "alipay.pub").read_text(), "RSA2")
for line in sys.stdin:
    ours = dict(urllib.parse.parse_qsl(line.strip(), keep_blank_values=True, strict_parsing=True))
    content, own = ours["biz_content"], {name: ours[name] for name in ("timestamp", "notify_url", "format")}
    theirs = client.client_api("alipay.trade.app.pay", biz_content=content, **own)
    print("same" if dict(urllib.parse.parse_qsl(theirs, keep_blank_values=True)) == ours else f"another: {theirs}")
