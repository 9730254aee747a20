import ApplePayProvider
package import Domain
package import Foundation
package import Gateway
package import ProviderKit
package import Store

/// The configuration of a test's Apple Pay account.
package struct ApplePayGatewayFixtureSetup: Sendable {
    package var desk = GatewayFixtureSetup()
    package var form = InstrumentForm.encrypted
    /// True where the account has the payment processing keys.
    package var hasKeys = true
    package var hasIdentity = true
    package var trustsMint = true
    /// The account that charges, in place of one of the desk's sandbox accounts.
    package var processor: ConfiguredAccount?
    /// The transport that answers for Apple's gateway.
    package var gateway: (any HTTPTransport)?

    package init() {}

    package init(_ edit: (inout ApplePayGatewayFixtureSetup) -> Void) { edit(&self) }

    package var settings: [String: SettingValue] {
        var settings: [String: SettingValue] = [
            "merchant_identifier": .text(ApplePayTestTokens.merchantIdentifier), "display_name": .text("Example"),
            "domain": .text("shop.example.com"), "country_code": .text("CN"),
            "supported_networks": .list([.text("visa"), .text("chinaUnionPay")]),
            "merchant_capabilities": .list([.text("supports3DS")]),
            "gateway": .text("https://gateway.example"),
            "processor": .text(processor?.id.rawValue ?? ApplePayGatewayFixture.processor),
            "token_form": .text(form.rawValue), "signing_time_window_seconds": .integer(300),
            "root_certificates": .list(trustsMint ? [.text(ApplePayTestTokens.rootFile)] : []),
            "domain_association": .text(Self.association),
        ]
        if hasKeys {
            settings["payment_processing"] = .list(Self.processing)
        }
        if hasIdentity { settings["identity"] = Self.identity }
        return settings
    }

    /// The setting that names a certificate and its key.
    package static func pair(_ identity: ApplePayIdentity) -> SettingValue {
        let file = AppleTestCertificates.file("certificate.pem", Data(identity.certificatePEM.utf8))
        return .object(["certificate": .text(file), "private_key": .text(identity.keyPEM)])
    }

    // Written once, because every desk of a test run uses the same files.
    private static let processing = [pair(ApplePayTestTokens.processingEC), pair(ApplePayTestTokens.processingRSA)]
    private static let identity = pair(ApplePayTestTokens.identity)
    private static let association = file("association.txt", Data("the association of the tests".utf8))

    /// Writes a file of this test run.
    ///
    /// - Returns: the path.
    package static func file(_ name: String, _ content: Data) -> String { AppleTestCertificates.file(name, content) }
}

/// A ``GatewayFixture`` that takes Apple Pay, charged through one of its sandbox accounts.
package struct ApplePayGatewayFixture: Sendable {
    package static let account = "apple-pay"
    package static let processor = "box-url"

    package let desk: GatewayFixture
    package let gateway: Gateway

    package var line: SandboxFaults { desk.line }
    package var store: Store { desk.store }

    package init(_ desk: GatewayFixture, _ setup: ApplePayGatewayFixtureSetup) throws {
        self.desk = desk
        let account = ConfiguredAccount(
            id: try .test(Self.account), provider: try Self.provider(setup, desk), isTest: false, enabled: true,
            routing: AccountRouting(platforms: [.web, .ios], priority: 200), notifyToken: nil)
        gateway = desk.gateway(with: [account] + (setup.processor.map { [$0] } ?? []))
        desk.transport.connect(to: gateway)
    }

    private static func provider(
        _ setup: ApplePayGatewayFixtureSetup, _ desk: GatewayFixture
    ) throws -> ApplePayProvider {
        let id = try AccountID.test(account)
        return try ApplePayProvider(
            account: ProviderAccount(id: id, settings: ProviderSettings(setup.settings), isDevelopment: true),
            context: ProviderContext(
                http: setup.gateway ?? desk.transport, time: desk.clock.time, random: desk.gateway.random,
                book: StoredBook(store: desk.store, account: id), notifyURL: "", publicURL: GatewayFixture.publicURL))
    }

    /// Runs every due job like ``GatewayFixture/work()``, with this account.
    package func work() async throws { try await gateway.work() }

    package func checkout(
        _ sku: String = "vip_month", user: String = "alice", quantity: Int64 = 1, context: CallContext = .test
    ) async throws -> PaymentContract {
        desk.clock.tick()
        let request = CheckoutRequest(
            sku: sku, quantity: quantity, platform: .web,
            currency: GatewayFixture.money(0, sku == "walkie" ? "USD" : "CNY").currency,
            accept: [.applePay])
        return try await gateway.cashier.open(request, user: GatewayFixture.user(user), context: context)
    }

    /// Opens another attempt to pay an open order.
    package func retry(
        _ order: ID<Order>, accept: Set<ContractType> = [.applePay], provider: String? = nil, user: String = "alice"
    ) async throws -> PaymentContract {
        desk.clock.tick()
        let request = RetryRequest(platform: .web, currency: nil, provider: provider, accept: accept, returnURL: nil)
        return try await gateway.cashier.retry(order.rawValue, request, user: GatewayFixture.user(user), context: .test)
    }

    /// The token with which a wallet answers a contract: for its amount, signed now.
    package func token(
        _ contract: PaymentContract, version: ApplePayRecipe.Version = .ec, amount: Int64? = nil,
        currency: String? = nil, variant: ApplePayVariant? = nil, _ edit: (inout ApplePayRecipe) -> Void = { _ in }
    ) throws -> Data {
        guard case .applePay(let request) = contract.instruction else {
            throw GatewayFixture.Contradiction(description: "no wallet answers this contract")
        }
        return Data(
            ApplePayTestTokens.token(
                amount: amount ?? contract.amount.value, currency: currency ?? contract.amount.currency.number,
                applicationData: Data(base64Encoded: request.applicationData).map(Array.init), version: version,
                at: desk.clock.now.rawValue, variant: variant, edit))
    }

    @discardableResult
    package func pay(
        _ contract: PaymentContract, _ token: Data, user: String = "alice", context: CallContext = .test
    ) async throws -> TokenPayment {
        try await gateway.tokenPayments.pay(
            contract.order.rawValue, token: token, user: GatewayFixture.user(user), context: context)
    }

    /// Opens a checkout and pays it by a sound token.
    @discardableResult
    package func buy(_ sku: String = "vip_month", user: String = "alice") async throws -> PaymentContract {
        let contract = try await checkout(sku, user: user)
        try await pay(contract, try token(contract), user: user)
        return contract
    }

    /// Pays with a token that is expected to be refused.
    ///
    /// - Returns: the error of the refusal; nil where the payment succeeds.
    package func refusal(
        _ contract: PaymentContract, _ token: Data, user: String = "alice"
    ) async throws -> GatewayError? {
        do {
            try await pay(contract, token, user: user)
            return nil
        } catch let error as GatewayError {
            return error
        }
    }
}

/// Runs a test at a desk that takes Apple Pay, and then checks every invariant of the resulting facts.
package func withWalletDesk(
    on engine: TestEngine, _ setup: ApplePayGatewayFixtureSetup = ApplePayGatewayFixtureSetup(),
    _ body: (ApplePayGatewayFixture) async throws -> Void
) async throws {
    try await withDesk(on: engine, setup.desk) { try await body(try ApplePayGatewayFixture($0, setup)) }
}
