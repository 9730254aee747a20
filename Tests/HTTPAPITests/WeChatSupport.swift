import Domain
import Hummingbird
import HummingbirdTesting
import Logging
import ProviderKit
import Synchronization
import TestSupport

@testable import HTTPAPI

/// A WeChat Pay account with codes and sheets, whose authorisation answers as a test says.
final class ScriptedWeChat: PaymentProvider, WalletBinding, PayerAuthorizing {
    static let manifest = ProviderManifest(
        kind: "wechat_pay", displayName: "WeChat Pay", contractTypes: [.qr, .wechatJSAPI], cancel: .none,
        refunds: .partial, notifications: [.post], settings: SettingsSchema([]))
    static let appID = "wxoffice000000001"
    static let openID = "oUpF8uMuAJO_M2pxb1Q9zNjWeS6o"

    private struct Script {
        var codes: [String] = []
        var payers: [WalletPayer?] = []
        var answer: Result<String, ProviderError> = .success(ScriptedWeChat.openID)
    }

    private struct Step: PayerAuthorization {
        let provider: ScriptedWeChat
        var appID: String { ScriptedWeChat.appID }

        func authorizeURL(state: String, redirect: String) -> String {
            "https://open.weixin.qq.com/connect/oauth2/authorize?redirect=\(redirect)&state=\(state)#wechat_redirect"
        }

        func exchange(code: String) async throws(ProviderError) -> String {
            let answer = provider.script.withLock { script in
                script.codes.append(code)
                return script.answer
            }
            return try answer.get()
        }
    }

    private let script = Mutex(Script())
    private let takesStep: Bool

    /// - Parameter takesStep: false for an account without `oauth`.
    init(takesStep: Bool = true) { self.takesStep = takesStep }

    init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) { takesStep = true }

    /// The codes that were exchanged.
    var codes: [String] { script.withLock { $0.codes } }

    /// The payers of the sheets that were opened.
    var payers: [WalletPayer?] { script.withLock { $0.payers } }

    /// Sets the answer to the next exchanges.
    func say(_ answer: Result<String, ProviderError>) { script.withLock { $0.answer = answer } }

    var authorization: (any PayerAuthorization)? { takesStep ? Step(provider: self) : nil }

    var orderedContractTypes: [ContractType] { [.qr, .wechatJSAPI] }

    func appIDs(of type: ContractType) -> [String] { type == .wechatJSAPI ? [Self.appID] : [] }

    func needsOpenID(_ type: ContractType) -> Bool { type == .wechatJSAPI }

    func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        guard attempt.accepts.contains(.wechatJSAPI), !attempt.accepts.contains(.qr) else {
            return OpenedPayment(instruction: .qr(text: "weixin://wxpay/bizpayurl?pr=1"), reference: nil)
        }
        script.withLock { $0.payers.append(attempt.payer) }
        let parameters = WeChatJSAPIParameters(
            appId: Self.appID, timeStamp: "4102444800", nonceStr: "n", package: "prepay_id=wx1", signType: "RSA",
            paySign: "s==")
        return OpenedPayment(instruction: .wechatJSAPI(parameters), reference: nil)
    }

    func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        PaymentReport(payment: payment.payment, outcome: .accepted)
    }

    func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport { throw .unsupported }

    func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport { throw .unsupported }

    func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport { throw .unsupported }

    func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        throw .unproven(.signature)
    }
}

/// Runs a test with the HTTP API of a desk that has an account at WeChat, too.
func withWeChat(
    on engine: TestEngine, _ setup: CounterSetup = .cny, _ wechat: ScriptedWeChat = ScriptedWeChat(),
    _ body: @Sendable (Counter, ScriptedWeChat) async throws -> Void
) async throws {
    try await withDesk(on: engine, setup.desk) { desk in
        let account = try desk.account("wechat", http: desk.transport) { _ in wechat }
        let api = API(
            gateway: desk.gateway(with: [account]),
            settings: APISettings(
                corsOrigins: [], limits: setup.limits,
                tokens: UserTokenRules(keys: setup.keys, issuer: "", audience: ""), version: "0.0.0-test",
                metricsText: { "" }),
            logger: setup.desk.logger)
        let app = Application(router: api.router(), logger: Logger(label: "http") { _ in SwiftLogNoOpLogHandler() })
        try await app.test(.router) { client in
            try await body(Counter(desk: desk, api: api, client: client, adminKey: ""), wechat)
        }
    }
}

extension Visitor {
    /// WeChat's browser on a phone.
    static let weChat =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148 MicroMessenger/8.0.50 Language/zh_CN"
}
