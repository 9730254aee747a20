import Domain
import HTTPTypes

extension OperationGroup {
    /// `api.md` section 3.
    static let cashier = OperationGroup(
        name: "Cashier", note: "What is sold, and the contract to pay it.",
        operations: [
            Operation(
                "listProducts", .get, "/v1/public/products", "What is sold here",
                query: [
                    .query("platform", .words(Platform.self), "Hides what nobody could sell there."),
                    .query("currency", .knownCurrency, "Only SKUs with a price in it."),
                    .query("locale", .string, "The language of names, before `Accept-Language`."),
                ],
                answers: .page(.product)),
            Operation(
                "listPaymentMethods", .get, "/v1/public/payment-methods", "Who could take a payment",
                note: "In the order in which a checkout would choose.",
                query: [
                    .query("sku", .string, "The SKU to be paid.", isRequired: true),
                    .query("platform", .words(Platform.self), "Where the client runs.", isRequired: true),
                    .query(
                        "currency", .knownCurrency,
                        "Of the price; the configured `default_currency` where it is left out."),
                    .query("quantity", .integer(1...1_000), "1 where it is left out."),
                    .query("days", .integer(1...3_660), "The option of a SKU that has several."),
                    .query("provider", .string, "An account's id, or a kind."),
                    .query(
                        "accept", .string(0...1_024, pattern: #"[^,\u0000]*(?:,[^,\u0000]*){0,19}"#),
                        "Contract types, separated by commas; at most 20."),
                ],
                answers: .page(.paymentMethod), refuses: [.skuNotFound]),
            Operation(
                "openCheckout", .post, "/v1/public/checkout", "Makes an order and the contract to pay it",
                note: "The order is durable before a provider is asked; the same `Idempotency-Key` goes on with it.",
                body: .json(.checkout), answers: .data(.contract),
                refuses: [
                    .skuNotFound, .alreadyOwned, .conflict, .noProviderAvailable, .providerRejected,
                    .providerUnavailable,
                ]),
            Operation(
                "retryCheckout", .post, "/v1/public/orders/{id}/checkout", "Another attempt to pay an open order",
                note: "The attempts before it are cancelled, or asked about, first.",
                body: .json(.retry), answers: .data(.contract),
                refuses: [
                    .orderNotFound, .orderNotOpen, .skuNotFound, .alreadyOwned, .conflict, .noProviderAvailable,
                    .providerRejected, .providerUnavailable,
                ]),
            Operation(
                "readContract", .get, "/v1/public/orders/{id}/contract", "The newest contract of an order, again",
                answers: .data(.contract), refuses: [.orderNotFound, .notFound],
                gone: [.orderNotOpen]),
            Operation(
                "readQRImage", .get, "/v1/public/payments/{id}/qr.svg", "The QR code of a contract",
                answers: .other("image/svg+xml", "An image; no login is needed."), refuses: [.notFound],
                gone: [.orderNotOpen]),
        ])
}

extension Shape {
    /// `localizations` are resolved; a pattern is shown as its options' product ids.
    static let product = named(
        "Product",
        .object(
            [
                "sku": .string, "name": .string, "description": .string, "kind": .words(SKU.Kind.self), "tier": .string,
                "duration_days": .integer.orNull, "prices": .list(.money),
                "options": .list(
                    .object(["days": .integer, "prices": .list(.money), "apple_product_id": .string.orNull])),
                "apple_product_ids": .list(.string), "attributes": .map(.any), "owned": .boolean,
            ]))

    fileprivate static let paymentMethod = named(
        "PaymentMethod",
        .object([
            "account": .string, "kind": .string, "display_name": .string, "type": .words(ContractType.self),
        ]))

    private static let accept = list(.string, 0...20).noted(
        "Contract types: apple_iap, stripe, url, qr, apple_pay. Without it the first four. Unknown words are ignored.")
    private static let returnURL = sentAddress.noted(
        "Where the payer goes afterwards; one of the allowed `return_urls`.")

    static let checkout = named(
        "Checkout",
        .object(
            ["sku": .string, "platform": .words(Platform.self)],
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
            ]))

    fileprivate static let retry = named("AnotherAttempt", retryMembers)

    private static let retryMembers = object(
        ["platform": .words(Platform.self)],
        optional: [
            "currency": .knownCurrency.orNull.noted("The order's own."), "provider": .string.orNull,
            "accept": accept.orNull, "return_url": returnURL.orNull,
        ])

    /// A tagged union on `type`.
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
                common("FreeContract", .none, [:]),
            ], by: "type"))

    private static func common(
        _ name: String, _ type: ContractType, _ members: KeyValuePairs<String, Shape>
    ) -> Shape {
        let isFree = type == .none
        return named(
            name,
            .object([
                "type": .words(type.rawValue), "order_id": .id("ord"),
                "payment_id": isFree ? .id("pay").orNull : .id("pay"), "provider": isFree ? .string.orNull : .string,
                "status": .words(Payment.State.self), "recurring": .boolean, "amount": .money, "expires_at": .time,
                "poll_after_ms": .integer,
            ]).adding(members))
    }

    private static let applePayRequest = object([
        "merchant_identifier": .string, "country_code": .string, "currency_code": .currency,
        "supported_networks": .list(.string), "merchant_capabilities": .list(.string),
        "total": .object(["label": .string, "amount": .string.noted("Major units, `39.90`.")]),
        "application_data": .string.noted("Base64."),
    ])
}
