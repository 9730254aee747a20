import Domain
import Gateway
import ProviderKit

extension UnknownThing {
    /// The subject's name in English and Chinese.
    var words: (english: String, chinese: String) {
        switch self {
        case .meter: ("meter", "计量项")
        case .account: ("account", "账户")
        case .user: ("user", "用户")
        case .purchase: ("purchase", "购买")
        case .subscription: ("subscription", "订阅")
        case .grant: ("grant", "授权")
        case .webhook: ("webhook", "回调地址")
        case .delivery: ("delivery", "投递")
        case .notification: ("notification", "通知")
        case .job: ("job", "任务")
        case .payment: ("payment", "支付")
        case .contract: ("contract yet for", "支付合约")
        case .key: ("API key", "密钥")
        case .session: ("session", "会话")
        case .externalToken: ("token of an external purchase", "外部购买令牌")
        case .offer: ("offer", "优惠")
        }
    }
}

extension SelectionRefusal {
    /// The condition that the best candidate account does not meet, in English and Chinese.
    var words: (english: String, chinese: String) {
        switch self {
        case .provider: ("no account has this id or kind", "没有这个账户或渠道")
        case .disabled: ("the account is not enabled", "账户未启用")
        case .platform: ("no account sells on this platform", "该平台没有可用的账户")
        case .environment: ("no account is in the environment of the token", "没有账户处于该令牌的环境")
        case .currency: ("no account takes this currency", "没有账户支持该币种")
        case .sku: ("no account sells this SKU in this way", "没有账户以这种方式出售该商品")
        case .amount: ("no account can charge exactly this amount", "没有账户可以收取这个金额")
        case .notRecurring:
            (
                "no account here renews this subscription (an order stays with the store or the service that it began "
                    + "with: check out anew); renewal: one_period on the SKU, or the older one_period_elsewhere, would "
                    + "sell single periods",
                "这里没有账户能续订（订单只能在最初选择的商店或渠道支付，请重新下单）；"
                    + "把商品的 renewal 设为 one_period（旧名 one_period_elsewhere）后可单期出售"
            )
        case .accept: ("the client accepts none of the contracts that fit", "客户端不接受任何可用的合约类型")
        case .unavailable: ("nobody can charge what the wallet hands over", "没有账户可以扣取该钱包的款项")
        case .storefront:
            ("nothing is sold outside of the App Store in this storefront", "该店面不提供 App Store 之外的购买")
        case .taxCategory: ("the SKU has no tax_category", "商品没有设置 tax_category")
        case .taxRate: ("the storefront has no rate for the SKU's tax_category", "该店面没有此商品税类的税率")
        }
    }
}

/// The Chinese texts of the reasons for which evidence of Apple's is refused (`docs/api.md` section 2).
enum RefusalWords {
    static func chinese(_ reason: String) -> String { words[reason] ?? "未通过验证" }

    private static let words = [
        "malformed": "格式错误", "unsupported_algorithm": "签名算法不受支持", "untrusted_chain": "证书链不受信任",
        "wrong_purpose": "证书用途不符", "certificate_expired": "签名时证书不在有效期内", "bad_signature": "签名不正确",
        "wrong_app": "不属于已配置的应用", "wrong_environment": "环境不被接受",
        "transaction_not_in_receipt": "收据中没有该交易", "unsupported_version": "版本不受支持",
        "signing_time_out_of_window": "签名时间超出允许范围", "unknown_merchant_key": "没有对应的商户密钥",
        "application_data_mismatch": "应用数据与订单不符", "transaction_identifier_mismatch": "交易标识不符",
        "decryption_failed": "无法解密", "simulator_token": "来自模拟器的凭证不能支付",
    ]
}

extension InvalidCredential {
    /// The reason in English, fit for a quoted string of a header, and in Chinese.
    var words: (english: String, chinese: String) {
        switch self {
        case .noToken: ("A user's token (JWT) is needed here", "此处需要用户令牌（JWT）")
        case .noKey: ("An API key (pdk_...) is needed here", "此处需要 API 密钥（pdk_…）")
        case .unknownKey: ("There is no such API key, or it was revoked", "API 密钥不存在或已被撤销")
        case .unknownSession: ("There is no such session", "会话不存在")
        case .sessionExpired: ("The session has ended", "会话已结束")
        case .noConsoleSession: ("The session of the console has ended", "控制台会话已结束")
        case .noSignIn: ("This link was used, is too old or was never given", "该链接已被使用、已过期或不存在")
        case .signature: ("The token's signature does not verify", "令牌签名验证失败")
        case .expired: ("The token has expired", "令牌已过期")
        case .claim(let name):
            (
                "The token's claim \(Self.quotable(name)) is missing or not as configured",
                "令牌的一项声明缺失或与配置不符"
            )
        }
    }

    private static func quotable(_ name: String) -> String { name.shown.filter { $0 != "\"" && $0 != "\\" } }
}

extension String {
    /// The caller's text in at most 64 characters of printable ASCII, so that a message quotes nothing longer or
    /// unprintable.
    var shown: String {
        String(decoding: utf8.filter(\.isVisible).prefix(64), as: UTF8.self)
    }
}
