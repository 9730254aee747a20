"""Signs the parameters for WeChat's libraries as `wechatpayv3` does.

Arguments: a folder with merchant.pem and pub_key.pem, and as JSON {"mchid", "appid", "serial", "api_key",
"public_key_id"}. Reads the four signed texts of each contract as a JSON list, one a line, and writes the library's
signature.
"""

import json
import pathlib
import sys

from merchant import client, public_key
from wechatpayv3 import WeChatPayType

folder, settings = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
wechat = client(WeChatPayType.APP, folder, settings, **public_key(folder, settings))
for line in sys.stdin:
    print(wechat.sign(json.loads(line)))
