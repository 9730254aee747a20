import Domain
import FoundationEssentials
import ProviderKit
import Synchronization

/// What a plugin says of itself.
struct RemoteManifest: Codable, Sendable, Equatable {
    static let version = 1
    /// What a plugin can have the client do.
    static let contracts: Set<ContractType> = [.url, .qr]

    let `protocol`: Int
    let display_name: String
    let contract_types: [ContractType]
    /// Empty means all.
    let currencies: [Currency]
    let cancel: ProviderManifest.Cancellation
    let refunds: ProviderManifest.Refunds
    let notifications: Bool

    /// Why it cannot be taken, in words for an operator; nil where it can.
    var fault: String? {
        if `protocol` != Self.version { return "its protocol is not \(Self.version)" }
        if !RemoteText.isName(display_name) { return "its display_name is empty, too long or no text" }
        if contract_types.isEmpty { return "it has no contract type" }
        if !Set(contract_types).isSubset(of: Self.contracts) { return "its contract types are not all url or qr" }
        if Set(contract_types).count != contract_types.count { return "a contract type is listed twice" }
        if Set(currencies).count != currencies.count { return "a currency is listed twice" }
        return nil
    }

    /// Laid over what every plugin can do.
    func applied(to kind: ProviderManifest) -> ProviderManifest {
        var manifest = kind
        manifest.displayName = display_name
        manifest.contractTypes = contract_types
        manifest.currencies = currencies
        manifest.cancel = cancel
        manifest.refunds = refunds
        manifest.notifications = notifications ? [.post] : []
        return manifest
    }

    /// The members in which another differs, by name; empty where nothing that counts does.
    func differences(from other: RemoteManifest) -> [String] {
        var names: [String] = []
        if display_name != other.display_name { names.append("display_name") }
        if Set(contract_types) != Set(other.contract_types) { names.append("contract_types") }
        if Set(currencies) != Set(other.currencies) { names.append("currencies") }
        if cancel != other.cancel { names.append("cancel") }
        if refunds != other.refunds { names.append("refunds") }
        if notifications != other.notifications { names.append("notifications") }
        return names
    }

    /// In words for an operator.
    var words: String {
        let types = contract_types.map(\.rawValue).joined(separator: " and ")
        let money = currencies.isEmpty ? "every currency" : currencies.map(\.code).joined(separator: ", ")
        return "\(display_name): \(types), \(money), cancel \(cancel.rawValue), refunds \(refunds.rawValue), "
            + (notifications ? "notifies" : "does not notify")
    }
}

/// The manifest by which a process goes: the first that it was given.
final class RemotePin: Sendable {
    private struct State {
        var manifest: RemoteManifest?
        var state = ManifestState.awaited(why: "it was not asked for yet")
        /// Whether it is written down for the doctor.
        var isKept = false
    }

    private let state: Mutex<State>

    init(_ manifest: RemoteManifest? = nil) {
        state = Mutex(manifest.map { State(manifest: $0, state: .pinned) } ?? State())
    }

    var manifest: RemoteManifest? { state.withLock { $0.manifest } }
    var current: ManifestState { state.withLock { $0.state } }

    /// The pinned one until it is written down.
    var unkept: RemoteManifest? { state.withLock { $0.isKept ? nil : $0.manifest } }

    /// Takes the first, and compares the others with it.
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

    /// Why there is none; the one that is pinned stays.
    func miss(_ why: String) {
        state.withLock { if $0.manifest == nil { $0.state = .awaited(why: why) } }
    }
}

/// What the server's process went by, for `paydesk doctor`, which is another.
struct KeptManifest: Codable {
    static let key = "manifest"

    let pinned_at: Int64
    let manifest: RemoteManifest
}
