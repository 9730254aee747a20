import Domain
import ProviderKit

/// The validated settings of an account's file.
struct StripeSettings: Sendable {
    /// The product of Stripe for payments.
    enum Mode: String, CaseIterable, Sendable {
        case paymentIntent = "payment_intent"
        case checkoutSession = "checkout_session"

        var contract: ContractType { self == .paymentIntent ? .stripe : .url }
    }

    static let officialBase = "https://api.stripe.com"
    static let secretPrefixes = ["sk", "rk"]
    static let secretLimit = 8
    static let methodLimit = 32

    let secretKey: ProviderSecret<String>
    let publishableKey: String
    let webhookSecrets: [ProviderSecret<String>]
    let mode: Mode
    let paymentMethodTypes: [String]
    /// The payment methods of mandates; empty where the account leaves none behind.
    let recurringTypes: [String]
    /// The base URL without a slash at its end.
    let base: String
    /// True for a live key; objects of the other mode are not this account's.
    let isLive: Bool

    static let schema = SettingsSchema([
        SettingsSchema.Field(
            "secret_key", .secret, required: true,
            summary: "The secret key, sk_live_… or sk_test_…, or a restricted one, rk_live_… or rk_test_…."),
        SettingsSchema.Field(
            "publishable_key", .text,
            summary: "The publishable key, pk_live_… or pk_test_…, which clients get with a stripe contract."),
        SettingsSchema.Field(
            "webhook_secrets", .list(.secret), required: true,
            summary: "The signing secrets of the webhook endpoint, whsec_…; two while one replaces the other."),
        SettingsSchema.Field(
            "mode", .choice(Mode.allCases.map(\.rawValue)), default: .text(Mode.paymentIntent.rawValue),
            summary: "payment_intent makes stripe contracts, checkout_session makes url contracts."),
        SettingsSchema.Field(
            "payment_method_types", .list(.text), default: .list([]),
            summary: "The payment methods to offer, such as card; empty means those of Stripe's Dashboard."),
        SettingsSchema.Field(
            "recurring_payment_method_types", .list(.text), default: .list([.text("card")]),
            summary: "The payment methods for subscriptions that Paydesk renews; empty means that none is sold here."),
        SettingsSchema.Field(
            "api_base", .url, default: .text(officialBase),
            summary: "Where Stripe's API is; https, except in development."
        ),
    ])

    /// - Throws: every fault, without any value.
    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        let settings = reader.settings
        mode = reader.choice("mode", of: Mode.allCases, default: .paymentIntent)

        let key = settings.text("secret_key")
        let live = Self.isLive(key, Self.secretPrefixes)
        if live == nil {
            reader.fault(
                "secret_key", Self.problem(key), "use a key that begins with sk_live_, sk_test_, rk_live_ or rk_test_")
        }
        secretKey = ProviderSecret(key)
        isLive = live ?? false

        publishableKey = settings.text("publishable_key")
        if let problem = Self.publishableProblem(publishableKey, isLive: live, mode) {
            reader.fault(
                "publishable_key", problem,
                "copy the publishable key that belongs to the secret key, pk_live_… or pk_test_…")
        }

        let secrets = settings.texts("webhook_secrets")
        if let problem = Self.secretsProblem(secrets) {
            reader.fault(
                "webhook_secrets", problem, "copy each endpoint's signing secret, whsec_…, from Stripe's Dashboard")
        }
        webhookSecrets = secrets.map { ProviderSecret($0) }

        paymentMethodTypes = settings.texts("payment_method_types")
        if !Self.areMethods(paymentMethodTypes) {
            reader.fault(
                "payment_method_types", "has something that is no payment method type, or one twice",
                "use Stripe's words, such as card, or leave it empty")
        }

        recurringTypes = settings.texts("recurring_payment_method_types")
        if !Self.areMethods(recurringTypes) {
            reader.fault(
                "recurring_payment_method_types", "has something that is no payment method type, or one twice",
                "use Stripe's words, such as card")
        } else if let slow = recurringTypes.first(where: Self.slowMethods.contains) {
            reader.fault(
                "recurring_payment_method_types", "has \(slow), which says only days later whether it paid",
                "name methods that answer at once, such as card")
        }

        base = reader.address(
            "api_base", default: Self.officialBase, "give scheme, host and path alone, or leave it out for Stripe's own"
        )
        try reader.check()
    }

    /// Methods whose charges are not decided when they are made, so that access would be given unpaid.
    private static let slowMethods: Set<String> = [
        "acss_debit", "au_becs_debit", "bacs_debit", "bank_transfer", "boleto", "customer_balance", "fpx", "konbini",
        "multibanco", "nz_bank_account", "oxxo", "pay_by_bank", "payto", "sepa_debit", "sofort", "us_bank_account",
    ]

    /// Returns the mode of a key; nil unless it has one of these prefixes, the mode and at least one letter.
    static func isLive(_ key: String, _ prefixes: [String]) -> Bool? {
        guard key.utf8.count <= 255, key.utf8.allSatisfy(\.isWord) else { return nil }
        for prefix in prefixes {
            for (word, live) in [("live", true), ("test", false)] {
                let head = "\(prefix)_\(word)_"
                if key.hasPrefix(head), key.utf8.count > head.utf8.count { return live }
            }
        }
        return nil
    }

    private static func problem(_ key: String) -> String { key.isEmpty ? "is missing" : "is of a wrong form" }

    private static func publishableProblem(_ key: String, isLive: Bool?, _ mode: Mode) -> String? {
        if key.isEmpty { return mode == .paymentIntent ? "is missing, and mode payment_intent needs it" : nil }
        guard let live = Self.isLive(key, ["pk"]) else { return "is of a wrong form" }
        return isLive == nil || live == isLive ? nil : "is not of the secret key's mode"
    }

    private static func secretsProblem(_ secrets: [String]) -> String? {
        if secrets.isEmpty { return "is missing" }
        if secrets.count > secretLimit { return "has more than \(secretLimit)" }
        let areGood = secrets.allSatisfy { secret in
            let tail = secret.utf8.dropFirst("whsec_".utf8.count)
            return secret.hasPrefix("whsec_") && !tail.isEmpty && secret.utf8.count <= 255
                && tail.allSatisfy(\.isVisible)
        }
        return areGood ? nil : "has one of a wrong form"
    }

    private static func areMethods(_ words: [String]) -> Bool {
        words.count <= methodLimit && Set(words).count == words.count
            && words.allSatisfy { word in
                word.hasBytes(1...64) { $0.isWord && !$0.isCapital }
            }
    }
}
