import Pages

extension ErrorID {
    /// Says to an app's developer how the app should act on the error.
    func advice(in locale: PageLocale) -> String { locale == .chinese ? advice.chinese : advice.english }

    private var advice: (english: String, chinese: String) {
        switch self {
        case .invalidRequest, .invalidNotification, .invalidTransaction, .invalidReceipt, .applePayTokenInvalid,
            .methodNotAllowed, .payloadTooLarge, .unsupportedMediaType, .headersTooLarge, .idempotencyKeyReused:
            adviceToCaller
        case .unauthenticated, .forbidden, .rateLimited, .usageLimitReached, .requestInProgress, .conflict,
            .internalError, .providerUnavailable, .temporarilyUnavailable:
            adviceToWait
        case .unknownProduct, .notFound, .orderNotFound, .skuNotFound, .applePayTokenReused, .amountMismatch,
            .purchaseBelongsToAnotherUser, .purchaseRevoked, .alreadyOwned, .orderNotOpen, .insufficientBalance,
            .noProviderAvailable, .providerRejected, .refundExceedsCaptured:
            adviceToShow
        }
    }

    /// Advice on requests that are wrong in themselves: the code has to change.
    private var adviceToCaller: (english: String, chinese: String) {
        switch self {
        case .invalidRequest:
            (
                "Mend the request: `details.field` names the place. Sent again unchanged it is refused again.",
                "修正请求：`details.field` 指出位置。原样重发仍会被拒绝。"
            )
        case .invalidNotification:
            (
                "Check the address and the signing secret of the account. The service sends it again by itself.",
                "检查账户的通知地址与签名密钥。支付服务会自行重发。"
            )
        case .invalidTransaction:
            (
                "Do not finish the transaction. `details.reason` says which check failed; `paydesk verify` explains it.",
                "不要结束（finish）该交易。`details.reason` 说明哪项检查未通过；`paydesk verify` 可逐项解释。"
            )
        case .invalidReceipt:
            (
                "Ask StoreKit for a fresh receipt, once, and send that. `details.reason` says which check failed.",
                "向 StoreKit 重新获取一次收据再发送。`details.reason` 说明哪项检查未通过。"
            )
        case .applePayTokenInvalid:
            (
                "Tell Apple's sheet that the payment failed, and begin a new one. Nothing was charged.",
                "向 Apple Pay 界面报告付款失败，并重新发起。没有扣款。"
            )
        case .methodNotAllowed:
            ("Use a method that the header `Allow` names.", "改用 `Allow` 头列出的方法。")
        case .payloadTooLarge:
            ("Send less: the limit is in the rules for all calls.", "减小请求体；上限见通用规则。")
        case .unsupportedMediaType:
            ("Send JSON, with `Content-Type: application/json`.", "发送 JSON，并带 `Content-Type: application/json`。")
        case .headersTooLarge:
            ("Send fewer or shorter headers, often cookies.", "减少请求头，通常是 Cookie 过多。")
        default:
            (
                "Make a new `Idempotency-Key` for each new act, and repeat a key with the same body only.",
                "每个新操作使用新的 `Idempotency-Key`；重复使用同一个键时请求体必须相同。"
            )
        }
    }

    /// Advice on calls that may succeed later, or with another login.
    private var adviceToWait: (english: String, chinese: String) {
        switch self {
        case .unauthenticated:
            (
                "Get a new token from your login and repeat the call once. Where that fails too, let the user log in.",
                "向登录系统取得新令牌并重试一次；仍失败则请用户重新登录。"
            )
        case .forbidden:
            (
                "Do not repeat it: this key or session may not do this. Use a key with the scope that the call names.",
                "不要重试：该密钥或会话无此权限。请使用具有所需权限的密钥。"
            )
        case .rateLimited:
            ("Wait for the seconds of `Retry-After`, then repeat it.", "等待 `Retry-After` 秒后重试。")
        case .usageLimitReached:
            (
                "Tell the user that the limit is reached and what lifts it; `Retry-After` is when the period ends.",
                "告诉用户已达上限以及如何提高上限；`Retry-After` 是本周期结束的时间。"
            )
        case .requestInProgress:
            (
                "Repeat the call after a second with the same `Idempotency-Key`; it then gets the first one's answer.",
                "一秒后用同一个 `Idempotency-Key` 重试，会得到第一次的应答。"
            )
        case .conflict:
            (
                "Read the object again and decide anew; `details` names what is in the way.",
                "重新读取对象后再决定；`details` 指出冲突所在。"
            )
        case .internalError:
            (
                "Repeat it later, with the same `Idempotency-Key`. Report the `request_id`: the server's log has the cause.",
                "稍后用同一个 `Idempotency-Key` 重试。反馈时请附 `request_id`，服务器日志中有原因。"
            )
        case .providerUnavailable:
            (
                "Repeat it later with the same `Idempotency-Key`, or offer another way to pay. No payment is lost.",
                "稍后用同一个 `Idempotency-Key` 重试，或换一种付款方式。已有的支付不会丢失。"
            )
        default:
            (
                "Repeat it after `Retry-After`, with the same `Idempotency-Key`.",
                "等待 `Retry-After` 后用同一个 `Idempotency-Key` 重试。"
            )
        }
    }

    /// Advice on what the state of a shop or a purchase does not allow: the user has to be told.
    private var adviceToShow: (english: String, chinese: String) {
        switch self {
        case .unknownProduct:
            (
                "Finish the transaction: it is kept, and granted once a SKU names its product. Tell the shop's admin.",
                "可以结束该交易：购买已保存，商品配置好后会自动发放。请通知管理员。"
            )
        case .notFound:
            (
                "Check the id. An object of somebody else is not found either.",
                "检查 id。属于他人的对象同样视为不存在。"
            )
        case .orderNotFound:
            ("Forget the order's id, and read the user's list of orders.", "丢弃该订单 id，重新读取用户的订单列表。")
        case .skuNotFound:
            ("Load the products again: the SKU is misspelt or no longer sold.", "重新加载商品：SKU 拼写有误或已下架。")
        case .applePayTokenReused:
            ("Read the order: this token has paid once. Do not charge again.", "读取订单：该凭证已付过一次，不要再次扣款。")
        case .amountMismatch:
            (
                "Read the order again and show its amount; the payer confirms that one.",
                "重新读取订单并显示其金额，由付款人确认。"
            )
        case .purchaseBelongsToAnotherUser:
            (
                "Tell the user that another account has this purchase. Keep the transaction, and offer to log in with it.",
                "告诉用户该购买属于另一个账号。保留该交易，并引导用户登录那个账号。"
            )
        case .purchaseRevoked:
            (
                "Finish the transaction: Apple has taken it back. Nothing is granted.",
                "结束该交易：Apple 已撤回，不会发放权益。"
            )
        case .alreadyOwned:
            ("Show what the user owns in place of the checkout.", "不再结账，直接显示用户已拥有的内容。")
        case .orderNotOpen:
            (
                "Read the order: it is paid or closed. Where it is closed, begin a new checkout.",
                "读取订单：它已支付或已关闭。若已关闭，请重新结账。"
            )
        case .insufficientBalance:
            ("Tell the user what is left, and offer to buy more.", "告诉用户余额，并提供购买入口。")
        case .noProviderAvailable:
            (
                "Offer another currency or platform, or hide the product; `details.reason` says what does not fit.",
                "换一种货币或平台，或隐藏该商品；`details.reason` 说明不符之处。"
            )
        case .providerRejected:
            (
                "Show `msg`, and let the payer choose another way to pay. `details.reason` is the service's word.",
                "显示 `msg`，让付款人选择其他付款方式。`details.reason` 是支付服务给出的原因。"
            )
        default:
            ("Refund at most what is left of the order.", "退款金额不得超过订单剩余可退金额。")
        }
    }
}
