/// A provider whose account's manifest its service says.
///
/// The first good one counts until the process ends. Before it is there, and while the service says another, the account
/// opens no payment; what was begun goes on under the first.
public protocol ManifestFetching: PaymentProvider {
    /// The manifest's present state; ``PaymentProvider/manifest`` and ``PaymentProvider/contractTypes`` follow it.
    var manifestState: ManifestState { get }

    /// Asks the service.
    ///
    /// - Parameter keeps: whether this process serves, so that what it goes by is written down for `paydesk doctor`.
    func fetchManifest(keeps: Bool) async -> ManifestState
}

/// The state of a service's manifest in this process.
public enum ManifestState: Sendable, Equatable {
    /// The manifest was not fetched yet; `why` is for an operator.
    case awaited(why: String)
    case pinned
    /// The service says another than the process began with; a restart takes it.
    case changed(what: String)
}

extension ConfiguredAccount {
    /// nil for a provider whose manifest is in the binary.
    package var manifestState: ManifestState? { (provider as? any ManifestFetching)?.manifestState }
}
