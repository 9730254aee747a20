import Domain

extension Shape {
    static let paymentMethod = named(
        "PaymentMethod",
        .object([
            "account": .string, "kind": .string, "display_name": .string, "type": .words(ContractType.self),
        ]))

    private static let accept = list(.string, 0...20).noted(
        """
        Contract types: apple_iap, stripe, url, qr, apple_pay, alipay_app, wechat_app, wechat_jsapi. Without it the first \
        four. Unknown words are ignored.
        """)

    private static let appID = string(1...64, pattern: "[A-Za-z0-9_-]{1,64}").orNull.noted(
        "The app at WeChat in which the payer pays, where the account has several for the contract."
    ).shown("null")

    private static let payer = named(
        "WalletPayer",
        .object(
            [:],
            optional: [
                "wechat_openid": .string(1...128, pattern: "[A-Za-z0-9_-]{1,128}").orNull.noted(
                    "The payer's openid at the app; required for a `wechat_jsapi` contract.")
            ])
    ).orNull.noted("The payer as a wallet knows them; kept sealed and shown nowhere.").shown("null")

    private static let returnURL = sentAddress.noted(
        "Where the payer goes afterwards; one of the allowed `return_urls`.")

    static let checkout = named(
        "Checkout",
        checkoutMembers.adding(
            [:],
            optional: [
                "sku": .string.noted("Required, but for a session."),
                "platform": .words(Platform.self).noted("Required, but for a session."),
            ])
    ).shown(#"{"currency":"CNY","platform":"web","sku":"vip_month"}"#)

    /// The members of a checkout beside `sku` and `platform`, which only a session may leave out.
    static let checkoutMembers = object(
        [:],
        optional: [
            "currency": .knownCurrency.orNull.noted("The configured `default_currency` where it is left out."),
            "quantity": .integer(1...1_000).orNull.noted("1 where it is left out."),
            "days": .integer(1...3_660).orNull.noted("The option of a SKU that has several."),
            "provider": .string.orNull.noted("An account's id, or a kind."), "accept": accept.orNull,
            "return_url": returnURL.orNull,
            "locale": .string(2...35, pattern: "[A-Za-z0-9_-]{2,35}").orNull.noted(
                "The language of what the payer sees: a tag such as `zh-Hans`."),
            "metadata": .map(.string(0...1_000), keys: .string(1...64), 0...50).orNull.noted(
                "At most 50 keys of 1 to 64 bytes and values of 1,000 bytes, 16 KiB together, in UTF-8."),
            "external_purchase_token": .string.orNull.noted(
                "Apple's token of a purchase outside of the App Store, as StoreKit gives it; it needs `storefront`."
            ).shown("null"),
            "storefront": .string(3...3, pattern: "[A-Z]{3}").orNull.noted(
                "The customer's storefront in ISO 3166 alpha-3."
            ).shown("null"),
            "app_id": appID, "payer": payer,
        ])

    static let retry = named("AnotherAttempt", retryMembers).shown(#"{"platform":"web"}"#)

    private static let retryMembers = object(
        [:],
        optional: [
            "platform": .words(Platform.self).noted("Required, but for a session."),
            "currency": .knownCurrency.orNull.noted("The order's own."), "provider": .string.orNull,
            "accept": accept.orNull, "return_url": returnURL.orNull, "app_id": appID, "payer": payer,
        ])

    /// A tagged union by `type`.
    static let contract = named(
        "PaymentContract",
        .oneOf(
            [
                common(
                    "AppleIAPContract", .appleIAP,
                    [
                        "product_ids": .list(.string),
                        "app_account_token": .string.noted("A UUID for StoreKit's purchase."),
                        "hint": .string,
                    ]),
                common(
                    "StripeContract", .stripe,
                    [
                        "stripe": .object(
                            ["publishable_key": .string, "client_secret": .string],
                            optional: [
                                "method": .string.noted("The one payment method type, where there is exactly one.")
                            ])
                    ]),
                common("URLContract", .url, ["checkout_url": .address]),
                common(
                    "QRContract", .qr,
                    [
                        "checkout_url": .string.noted("The text to encode."), "qr_image_url": .address,
                    ]),
                common("ApplePayContract", .applePay, ["apple_pay": .applePayRequest]),
                common("AlipayAppContract", .alipayApp, ["alipay_app": alipayApp]),
                common("WeChatAppContract", .wechatApp, ["wechat_app": wechatApp]),
                common("WeChatJSAPIContract", .wechatJSAPI, ["wechat_jsapi": wechatJSAPI]),
                common("FreeContract", .none, [:]),
            ], by: "type"))

    private static let alipayApp = object([
        "order_string": .string.noted("Handed to Alipay's library as it is.")
    ])

    private static let wechatApp = object([
        "appid": .string, "partnerid": .string, "prepayid": .string, "package": .string.noted("`Sign=WXPay`."),
        "noncestr": .string, "timestamp": .string.noted("Unix seconds."), "sign": .string,
    ]).noted("The members of WeChat's `PayReq`.")

    private static let wechatJSAPI = object([
        "appId": .string, "timeStamp": .string.noted("Unix seconds."), "nonceStr": .string,
        "package": .string.noted("`prepay_id=…`."), "signType": .string.noted("`RSA`."), "paySign": .string,
    ]).noted("For `getBrandWCPayRequest`, or `wx.requestPayment` in a mini program.")

    private static func common(
        _ name: String, _ type: ContractType, _ members: KeyValuePairs<String, Shape>
    ) -> Shape {
        let isFree = type == .none
        return named(
            name,
            .object([
                "type": .words(type.rawValue), "order_id": .id("ord"),
                "payment_id": .id("pay").orNull.noted("Null for a set-up, and where nothing is to be paid."),
                "provider": isFree ? .string.orNull : .string,
                "status": .words(Payment.State.self), "recurring": .boolean, "amount": .money, "expires_at": .time,
                "poll_after_ms": .integer,
            ]).adding(members, optional: renewalMembers))
    }

    /// The members of a contract of a subscription that Paydesk renews.
    private static let renewalMembers: KeyValuePairs<String, Shape> = [
        "setup": .boolean.noted("True where the client completes a set-up, and nothing is charged."),
        "setup_id": .id("stp").orNull,
        "period": .billingPeriod,
        "trial_days": .integer, "next_charge_at": .time, "next_amount": .money,
        "terms": .string.noted("The sentence that the payer agrees to; show it beside a box to tick."),
    ]

    private static let applePayRequest = object([
        "merchant_identifier": .string, "country_code": .string, "currency_code": .currency,
        "supported_networks": .list(.string), "merchant_capabilities": .list(.string),
        "total": .object(["label": .string, "amount": .string.noted("Major units, `39.90`.")]),
        "application_data": .string.noted("Base64."),
    ])
}
