import Domain
public import ProviderKit

/// Piggy, a payment service that does not exist: a page to pay on, and refunds in parts.
public struct PiggyProvider: PaymentProvider {
    public static let manifest = ProviderManifest(
        kind: "piggy", displayName: "Piggy", contractTypes: [.url], cancel: .definite, refunds: .partial,
        notifications: [.post],
        settings: SettingsSchema([
            SettingsSchema.Field("api_key", .secret, required: true, summary: "Piggy's API key, pk_…."),
            SettingsSchema.Field("webhook_secret", .secret, required: true, summary: "Signs Piggy's notifications."),
            SettingsSchema.Field(
                "api_base", .url, default: .text("https://api.piggy.example"), summary: "Where Piggy's API is."),
        ]))

    let context: ProviderContext
    let calls: PiggyCalls
    let webhookSecret: ProviderSecret<String>

    public init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        let key = reader.text("api_key", 1...255, "copy the key from Piggy's console")
        if !key.isEmpty, !key.hasPrefix("pk_") {
            reader.fault("api_key", "is of a wrong form", "use a key that begins with pk_")
        }
        let base = reader.address(
            "api_base", default: "https://api.piggy.example", "give scheme, host and path alone, or leave it out")
        webhookSecret = ProviderSecret(reader.settings.text("webhook_secret"))
        try reader.check()
        self.context = context
        calls = PiggyCalls(
            client: ServiceClient("piggy", context: context), base: base, key: ProviderSecret(key))
    }

    public func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        let body = [
            "amount": attempt.amount.decimal, "currency": attempt.amount.currency.code, "title": attempt.title,
            "return_url": attempt.returnURL ?? context.publicURL, "notify_url": context.notifyURL,
        ]
        let path = "payments/\(attempt.payment.rawValue)"
        let made: PiggyPayment? = try await calls.send("PUT", path, body, key: attempt.idempotencyKey)
        guard let made, made.number == attempt.payment.rawValue, let page = made.page, page.hasPrefix("https://") else {
            throw .outcomeUnknown
        }
        guard try made.money == attempt.amount else { throw .unproven(.badMoney) }
        return OpenedPayment(instruction: .url(checkoutURL: page), reference: nil, outcome: try made.outcome)
    }

    public func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let known: PiggyPayment? = try await calls.send("GET", "payments/\(payment.payment.rawValue)")
        guard let known else {
            // The opening may still be on its way, so that is no end.
            return PaymentReport(payment: payment.payment, outcome: .pending(status: "not_found"))
        }
        return try report(known, payment)
    }

    public func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let id = payment.payment.rawValue
        let body = ["amount": payment.amount.decimal, "currency": payment.amount.currency.code]
        let closed: PiggyPayment? = try await calls.send("POST", "payments/\(id)/close", body, key: "\(id)-close")
        guard let closed else { throw .outcomeUnknown }
        return try report(closed, payment)
    }

    private func report(
        _ known: PiggyPayment, _ payment: ProviderReference
    ) throws(ProviderError) -> PaymentReport {
        guard known.number == payment.payment.rawValue else { throw .unproven(.otherPayment) }
        return PaymentReport(payment: payment.payment, outcome: try known.outcome)
    }
}

/// A payment in Piggy's words; fields that are not named here are passed over.
struct PiggyPayment: Decodable {
    let number: String
    let status: String
    let amount: String
    let currency: String
    let page: String?

    var money: Money {
        get throws(ProviderError) {
            guard let currency = Currency(currency), let money = Money(decimal: amount, currency: currency) else {
                throw .outcomeUnknown
            }
            return money
        }
    }

    var outcome: PaymentOutcome {
        get throws(ProviderError) {
            switch status {
            case "open": .accepted
            case "paid": .succeeded(try money)
            case "declined": .failed(reason: "declined")
            case "closed": .cancelled
            default: .pending(status: status)
            }
        }
    }
}
