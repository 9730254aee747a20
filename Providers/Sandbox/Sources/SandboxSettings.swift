import Domain
import ProviderKit

/// The validated settings of an account's file.
struct SandboxSettings: Sendable {
    /// The answer of the simulated service.
    enum Reply: String, CaseIterable {
        case normal
        /// Opening, cancelling and refunding take effect, but their answers are lost; queries work.
        case lost
        /// Every call takes five seconds longer than `delay_ms`.
        case slow
        /// Every call has no effect and fails with `unavailable`.
        case error
    }

    let contract: ContractType
    let reply: Reply
    /// The duration of every call to the simulated service.
    let delay: Duration

    static let contracts: [ContractType] = [.stripe, .url, .qr, .none]
    static let delayMilliseconds: ClosedRange<Int64> = 0...60_000

    static let schema = SettingsSchema([
        SettingsSchema.Field(
            "contract", .choice(contracts.map(\.rawValue)), default: .text(ContractType.url.rawValue),
            summary: "The type of payment contract that this account makes; with none the order is paid at once."),
        SettingsSchema.Field(
            "secret", .secret, required: true, summary: "Signs the notifications; any text that is not empty."),
        SettingsSchema.Field(
            "delay_ms", .integer(delayMilliseconds), default: .integer(0),
            summary: "Milliseconds that every call to the played payment service takes."),
        SettingsSchema.Field(
            "reply", .choice(Reply.allCases.map(\.rawValue)), default: .text(Reply.normal.rawValue),
            summary: "How calls end: normal; lost (with effect, no answer); slow (5 s more); error (no effect)."),
    ])

    /// Reads the settings; absent ones have defaults, except the secret.
    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let reader = ProviderSettingsReader(account)
        contract = reader.choice("contract", of: Self.contracts, default: .url)
        reply = reader.choice("reply", of: Reply.allCases, default: .normal)
        let milliseconds = reader.settings.integer("delay_ms") ?? 0
        delay = .milliseconds(milliseconds) + (reply == .slow ? .seconds(5) : .zero)
        if !Self.delayMilliseconds.contains(milliseconds) {
            reader.fault("delay_ms", "is out of range", "use 0 to 60000")
        }
        if reader.settings.text("secret").isEmpty {
            reader.fault("secret", "is missing", "set it to any text that is not empty")
        }
        try reader.check()
    }
}
