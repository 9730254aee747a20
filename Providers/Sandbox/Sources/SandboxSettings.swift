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
        let settings = account.settings
        var faults: [ProviderSetupError.Fault] = []
        func choice<Word: RawRepresentable<String>>(_ name: String, of words: [Word], otherwise: Word) -> Word {
            let text = settings.text(name)
            if let word = words.first(where: { $0.rawValue == text }) { return word }
            if !text.isEmpty {
                let known = words.map(\.rawValue).joined(separator: ", ")
                faults.append(.init(setting: name, problem: "not one of its words", remedy: "Use one of \(known)."))
            }
            return otherwise
        }
        contract = choice("contract", of: Self.contracts, otherwise: .url)
        reply = choice("reply", of: Reply.allCases, otherwise: .normal)
        let milliseconds = settings.integer("delay_ms") ?? 0
        delay = .milliseconds(milliseconds) + (reply == .slow ? .seconds(5) : .zero)
        if !Self.delayMilliseconds.contains(milliseconds) {
            faults.append(.init(setting: "delay_ms", problem: "out of range", remedy: "Use 0 to 60000."))
        }
        if settings.text("secret").isEmpty {
            faults.append(.init(setting: "secret", problem: "missing", remedy: "Set it to any text that is not empty."))
        }
        guard faults.isEmpty else { throw ProviderSetupError(faults) }
    }
}
