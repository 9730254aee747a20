/// A provider whose account's manifest its service says.
///
/// The first good one counts until the process ends. Before it is there, and while the service says another, the account
/// opens no payment; what was begun goes on under the first.
public protocol ManifestFetching: PaymentProvider {
    /// What is known now; ``PaymentProvider/manifest`` and ``PaymentProvider/contractTypes`` follow it.
    var manifestState: ManifestState { get }

    /// Asks the service.
    ///
    /// - Parameter keeps: whether this process serves, so that what it goes by is written down for `paydesk doctor`.
    func fetchManifest(keeps: Bool) async -> ManifestState
}

/// What a process knows of the manifest of a service.
public enum ManifestState: Sendable, Equatable {
    /// None was fetched yet, in words for an operator.
    case awaited(why: String)
    case pinned
    /// The service says another than the process began with; a restart takes it.
    case changed(what: String)
}

extension ConfiguredAccount {
    /// nil for a provider whose manifest is in the binary.
    package var manifestState: ManifestState? { (provider as? any ManifestFetching)?.manifestState }
}
