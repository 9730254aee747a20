import Domain
import FoundationEssentials
import ProviderKit
import Synchronization

/// The manifest of a plugin, in the plugin's own statement.
struct RemoteManifest: Codable, Sendable, Equatable {
    static let version = 1
    /// The contract types that a plugin can return.
    static let contracts: Set<ContractType> = [.url, .qr]

    let `protocol`: Int
    let display_name: String
    let contract_types: [ContractType]
    /// The currencies; empty for all.
    let currencies: [Currency]
    let cancel: ProviderManifest.Cancellation
    let refunds: ProviderManifest.Refunds
    let notifications: Bool
    /// The limits of amounts by currency; a currency without a rule has none.
    var amounts: [AmountRule]?
    /// True where the plugin charges mandates; absent in the manifests of plugins that know none.
    var mandates: Bool?

    /// The limits of one currency, in its minor units.
    struct AmountRule: Codable, Sendable, Equatable {
        let currency: Currency
        let min: Int64?
        let max: Int64?
        /// Amounts must be a multiple of this: 100 where a currency with two decimals is charged in whole units.
        let step: Int64?
    }

    var chargesMandates: Bool { mandates ?? false }

    /// Returns the reason why the plugin can never charge this amount.
    func amountFault(_ amount: Money) -> AmountFault? {
        guard currencies.isEmpty || currencies.contains(amount.currency) else { return .currency }
        guard amount.value > 0 else { return .notPositive }
        guard let rule = amounts?.first(where: { $0.currency == amount.currency }) else { return nil }
        if amount.value < rule.min ?? 0 { return .tooSmall }
        if amount.value > rule.max ?? .max { return .tooLarge }
        return amount.value % (rule.step ?? 1) == 0 ? nil : .fraction
    }

    /// The reason why the manifest is refused, for an operator; nil where it is accepted.
    var fault: String? {
        if `protocol` != Self.version { return "its protocol is not \(Self.version)" }
        if !RemoteText.isName(display_name) { return "its display_name is empty, too long or no text" }
        if contract_types.isEmpty { return "it has no contract type" }
        if !Set(contract_types).isSubset(of: Self.contracts) { return "its contract types are not all url or qr" }
        if Set(contract_types).count != contract_types.count { return "a contract type is listed twice" }
        if Set(currencies).count != currencies.count { return "a currency is listed twice" }
        let rules = amounts ?? []
        if Set(rules.map(\.currency)).count != rules.count { return "a currency has two rules in amounts" }
        if !rules.allSatisfy({ ($0.min ?? 0) >= 0 && ($0.max ?? .max) >= ($0.min ?? 0) && ($0.step ?? 1) > 0 }) {
            return "a rule in amounts has a negative min, a max below its min, or a step below 1"
        }
        // A charge whose answer was lost is withdrawn before another is made.
        if chargesMandates, cancel == .none { return "it has mandates, and its cancel is none" }
        return nil
    }

    /// Returns the kind's manifest with the members of this one.
    func applied(to kind: ProviderManifest) -> ProviderManifest {
        var manifest = kind
        manifest.displayName = display_name
        manifest.contractTypes = contract_types
        manifest.currencies = currencies
        manifest.cancel = cancel
        manifest.refunds = refunds
        manifest.mandates = chargesMandates
        manifest.notifications = notifications ? [.post] : []
        return manifest
    }

    /// Returns the names of the members that differ; empty where no relevant one does.
    func differences(from other: RemoteManifest) -> [String] {
        var names: [String] = []
        if display_name != other.display_name { names.append("display_name") }
        if Set(contract_types) != Set(other.contract_types) { names.append("contract_types") }
        if Set(currencies) != Set(other.currencies) { names.append("currencies") }
        if amounts ?? [] != other.amounts ?? [] { names.append("amounts") }
        if cancel != other.cancel { names.append("cancel") }
        if refunds != other.refunds { names.append("refunds") }
        if notifications != other.notifications { names.append("notifications") }
        if chargesMandates != other.chargesMandates { names.append("mandates") }
        return names
    }

    /// A description for an operator.
    var words: String {
        let types = contract_types.map(\.rawValue).joined(separator: " and ")
        let money = currencies.isEmpty ? "every currency" : currencies.map(\.code).joined(separator: ", ")
        return "\(display_name): \(types), \(money), cancel \(cancel.rawValue), refunds \(refunds.rawValue), "
            + (notifications ? "notifies" : "does not notify") + (chargesMandates ? ", charges mandates" : "")
    }
}

/// The manifest of a process: the first one that it received.
final class RemotePin: Sendable {
    private struct State {
        var manifest: RemoteManifest?
        var state = ManifestState.awaited(why: "it was not asked for yet")
        /// True where it is stored for the doctor.
        var isKept = false
    }

    private let state: Mutex<State>

    init(_ manifest: RemoteManifest? = nil) {
        state = Mutex(manifest.map { State(manifest: $0, state: .pinned) } ?? State())
    }

    var manifest: RemoteManifest? { state.withLock { $0.manifest } }
    var current: ManifestState { state.withLock { $0.state } }

    /// The pinned manifest, while it is not stored yet; otherwise nil.
    var unkept: RemoteManifest? { state.withLock { $0.isKept ? nil : $0.manifest } }

    /// Pins the first manifest, and compares later ones with it.
    func take(_ manifest: RemoteManifest) {
        state.withLock { state in
            guard let pinned = state.manifest else {
                state = State(manifest: manifest, state: .pinned)
                return
            }
            let names = manifest.differences(from: pinned)
            state.state = names.isEmpty ? .pinned : .changed(what: names.joined(separator: ", "))
        }
    }

    func wasKept() { state.withLock { $0.isKept = true } }

    /// Records the reason why no manifest was fetched; a pinned one stays.
    func miss(_ why: String) {
        state.withLock { if $0.manifest == nil { $0.state = .awaited(why: why) } }
    }
}

/// The manifest that the server's process uses, stored for the process of `paydesk doctor`.
struct KeptManifest: Codable {
    static let key = "manifest"

    let pinned_at: Int64
    let manifest: RemoteManifest
}
