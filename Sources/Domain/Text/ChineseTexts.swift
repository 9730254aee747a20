/// The phrases of ``LocalizedText`` in Chinese, by their English patterns.
///
/// A number in a pattern is a mark here, so `must be %@ to %@` is every range. Names of fields are in an error's
/// `field`, allowed values in its `details`, so that no Chinese sentence needs an English word.
package enum ChineseTexts {
    package static let byPattern = values.merging(bodies) { $1 }.merging(catalogue) { $1 }.merging(conflicts) { $1 }

    private static let values = [
        "this session was made and its token was shown once": "该会话已创建，令牌只显示一次",
        "the user has %@ sessions with an order; end one, or wait until one expires": "该用户已有 %@ 个带订单的会话；请结束其中一个，或等待其到期",
        "stands twice": "重复出现",
        "is for exactly one SKU": "只能用于恰好一个 SKU",
        "the option has no price in this currency": "该选项没有此币种的价格",
        "must be one of the SKU's options": "必须是该 SKU 的选项之一",
        "no account has this id or kind": "没有此编号或种类的账户",
        "is not the session's": "与会话的设置不一致",
        "one of the session's SKUs must be named": "必须指定会话中的一个 SKU",
        "is not offered by this session": "该会话不提供此商品",
        "is unknown": "未知",
        "must be an account and a contract type": "必须是账户和合约类型",
        "must be later than now": "必须晚于现在", "another rotation was made at the same time": "同时有另一次轮换",
        "or to: exactly one of the two is needed": "或 to：两者必须且只能给出一个",
        "there is no order": "没有订单",
        "is not for a portal": "不能用于自助页面的会话",
        "no account takes Apple's external purchases": "没有账户接受 Apple 的外部购买",
        "must be a country in three letters (ISO 3166 alpha-3)": "必须是三个字母的国家代码（ISO 3166）",
        "must be a product id with ${days} in it": "必须是带有天数占位符的商品编号",
        "is for a StoreKit file": "仅用于 StoreKit 文件",
        "either key or once, not both": "密钥和一次性链接只能提供一种",
        "is missing": "缺少必填项",
        "is not known here": "此处没有该字段",
        "is not known here; the nearest known name is %@": "此处没有该字段，最接近的字段名是 %@",
        "must be a string": "必须是字符串", "must be an integer": "必须是整数", "must be a number": "必须是数字",
        "must be a boolean": "必须是布尔值", "must be an array": "必须是数组", "must be an object": "必须是对象",
        "must be one of %@": "不是允许的取值，允许的取值见 details.allowed",
        "must be some of %@": "含有不允许的取值，允许的取值见 details.allowed",
        "must be %@ to %@": "必须在 %@ 到 %@ 之间",
        "must be an integer from %@": "必须是不小于 %@ 的整数",
        "must be positive": "必须大于零",
        "must lie ahead": "必须是将来的时间",
        "must have %@ to %@ characters": "长度必须为 %@ 到 %@ 个字符",
        "must have at most %@ characters": "最多 %@ 个字符",
        "must have at most %@ characters, none of them a control": "最多 %@ 个字符，且不能有控制字符",
        "must have %@ to %@ characters, none of them a control character": "长度必须为 %@ 到 %@ 个字符，且不能有控制字符",
        "must have at most %@ characters, no control characters but tabs and line breaks":
            "最多 %@ 个字符，除制表符和换行外不能有控制字符",
        "must be %@ to %@ visible ASCII characters": "必须是 %@ 到 %@ 个可见的 ASCII 字符",
        "at most %@": "最多 %@ 个", "at most %@ characters": "最多 %@ 个字符",
        "must match [a-z0-9][a-z0-9_.-]{0,63}": "只能由小写字母、数字和 _.- 组成，以字母或数字开头，最多 64 个字符",
        "must be an ISO %@ currency": "必须是 ISO 4217 币种代码", "must be a language tag": "必须是语言标签",
        "is not an id of this kind": "不是这种对象的编号",
        "must be seconds since %@": "必须是自 1970 年起的秒数",
        "must be seconds since %@, a date or an ISO %@ time": "必须是自 1970 年起的秒数、日期或 ISO 8601 时间",
        "must be seconds since %@ and not after to": "必须是自 1970 年起的秒数，且不晚于结束时间",
        "at most %@ days before to": "与结束时间最多相隔 %@ 天",
        "this is not a cursor of this list": "不是此列表的游标",
        "must be named: this id is known in %@": "必须指明环境：该编号存在于多个环境",
    ]

    private static let bodies = [
        "the body is not JSON; the fault is at byte %@": "请求体不是合法的 JSON，错误位于第 %@ 字节",
        "JSON is nested more than %@ levels deep": "JSON 嵌套超过 %@ 层",
        "text must not contain U+%@": "文本不能含有 U+%@",
        "a query parameter must not contain U+%@": "查询参数不能含有 U+%@",
        "the path and the query must not contain U+%@": "路径和查询参数不能含有 U+%@",
        "at most %@ keys of %@ to %@ bytes and values of %@ bytes, %@ KiB together, in UTF%@":
            "最多 %@ 个键，键长 %@ 到 %@ 字节，值最长 %@ 字节，总共不超过 %@ KiB（按 UTF%@ 计）",
        "stands twice in one object": "在同一个对象中出现了两次",
        "must be there once": "必须恰好出现一次",
        "the body was cut off": "请求体不完整", "the body came too slowly": "请求体发送过慢",
        "needs enabled, routing or reset": "至少需要一项更改",
        "at most %@ keys of %@ and values of %@ characters": "最多 %@ 个键，键最长 %@ 个字符，值最长 %@ 个字符",
        "this address is not one of the allowed return_urls": "该地址不在允许的返回地址之内",
        "is not an address of Apple's payment gateways": "不是苹果支付网关的地址",
        "%@ has no price in this currency": "商品 %@ 没有该币种的价格",
        "%@ is not sold in this quantity": "商品 %@ 不按此数量出售",
        "one of this SKU's options must be named": "必须指明该商品的一个选项",
        "the order's currency is %@": "订单的币种是 %@",
        "duration_days or expires_at is needed for this SKU": "该商品需要天数或结束时间",
        "only what lasts has an end": "只有有期限的商品才有结束时间",
        "the balance would be larger than a balance may be": "余额将超过允许的上限",
        "either duration_days or expires_at, not both": "天数和结束时间只能给出一个",
        "min and max must be an interval of minor units": "最小值和最大值必须构成以最小货币单位计的区间",
        "must be at most %@ SKU ids": "最多 %@ 个商品编号",
        "must be an absolute address of at most %@ printable characters, without user information":
            "必须是绝对地址，最多 %@ 个可打印字符，且不含用户信息",
        "must be https": "必须使用 HTTPS", "must have no fragment": "不能含有片段", "must name a public host": "必须指向公网主机",
    ]

    private static let catalogue = [
        "a SKU needs prices or options": "商品需要价格或选项",
        "a SKU's id never changes": "商品编号不能更改",
        "a pass needs its number of days": "通行证需要天数",
        "a consumable needs the units that it credits": "消耗品必须有要入账的单位数量",
        "a subscription needs a tier, units or attributes that it gives": "订阅必须给予等级、单位数量或属性",
        "a subscription needs an Apple product, or one_period_elsewhere, to be bought by":
            "订阅必须有可以购买的途径：苹果商品编号，或 one_period_elsewhere",
        "a SKU's kind never changes; make another SKU": "商品类型不能更改，请新建商品",
        "a price is %@ to %@ minor units": "价格必须在 %@ 到 %@ 个最小货币单位之间",
        "at most %@ names like ids, each %@ to %@": "最多 %@ 个名称（格式同编号），每个数量在 %@ 到 %@ 之间",
        "at most %@, each with a name of %@ to %@ characters": "最多 %@ 个，每个名称为 %@ 到 %@ 个字符",
        "at most %@, each with a name of %@ to %@ characters and no control characters":
            "最多 %@ 个，每个名称为 %@ 到 %@ 个字符，且不能有控制字符",
        "at most one pattern": "最多一个模式",
        "different ids of letters, digits and ._-, optionally bundle:product, with at most one ${days}":
            "必须是互不相同的商品编号，由字母、数字和 ._- 组成，最多含一个天数占位符",
        "each option has its own number of days (%@ to %@) and prices": "每个选项有各自的天数（%@ 到 %@）和价格",
        "one price a currency, at most %@": "每个币种一个价格，最多 %@ 个",
        "one_period_elsewhere needs the period's number of days": "在其他渠道出售一期时需要该期的天数",
        "only a pass (non_renewing) has a pattern": "只有通行证可以有模式",
        "only a pass (non_renewing) has options": "只有通行证可以有选项",
    ]

    private static let conflicts = [
        "it was %@ before": "此前已经处理过",
        "the order is paid; return the money": "订单已支付，请退回这笔款项",
        "a user has at most %@ open orders; pay or cancel one of them": "每个用户最多 %@ 个未完成订单，请先支付或取消其中一个",
        "the SKU %@ exists": "商品 %@ 已存在",
        "another active SKU has the Apple product ids %@": "另一个在售商品已使用这些苹果商品编号：%@",
        "a partner has at most %@ webhooks": "每个合作方最多 %@ 个回调地址",
        "its old deliveries are still being ended; try again soon": "其旧的投递仍在结束中，请稍后重试",
        "the webhook is disabled": "该回调地址已停用",
        "the order has had %@ attempts; make a new one": "该订单已尝试 %@ 次，请新建订单",
        "this call was made before and showed a secret once": "此调用已执行过，密钥只显示一次",
        "this key was made and shown once": "该密钥已创建并显示过一次",
        "this secret was made and shown once": "该签名密钥已创建并显示过一次",
        "this webhook was made and its secret shown once": "该回调地址已创建，其签名密钥已显示过一次",
        "the payment that this token answers has ended; make the next contract by checkout":
            "该凭证对应的支付已结束，请重新发起支付",
        "another token is being charged for this payment": "此支付正在使用另一个凭证扣款",
        "the order has no Apple Pay contract that is open; make one by checkout": "该订单没有进行中的苹果支付合约，请先发起支付",
        "this subscription's account cannot ask its store for an extension": "该订阅的账户无法向商店申请延期",
        "The payment failed. Nothing was charged; pay again or in another way.": "付款失败。没有扣款，可以重新付款，或换一种付款方式。",
        "the App Store has no such reason": "商店没有这种原因代码",
        "the App Store did not extend the subscription": "商店没有延长该订阅",
        "the store did not say whether it extended the subscription, and is being asked; look at the subscription's end before another extension, because a second one would count":
            "商店未说明是否已延长该订阅，正在查询；再次延长前请先查看订阅的结束时间，以免重复延长",
    ]
}
