/// A provider whose service states the manifest of the account.
///
/// The first valid manifest applies until the process ends. Before it is known, and while the service states another
/// one, the account opens no payments; payments under way continue with the first manifest.
public protocol ManifestFetching: PaymentProvider {
    /// The current state of the manifest, on which ``PaymentProvider/manifest`` and ``PaymentProvider/contractTypes``
    /// depend.
    var manifestState: ManifestState { get }

    /// Fetches the manifest from the service.
    ///
    /// - Parameter keeps: true in a process that serves, whose manifest is stored for `paydesk doctor`.
    func fetchManifest(keeps: Bool) async -> ManifestState
}

/// The state of a service's manifest in this process.
public enum ManifestState: Sendable, Equatable {
    /// The manifest is not known yet; `why` is for an operator.
    case awaited(why: String)
    case pinned
    /// The service states another manifest than at the start of the process; a restart accepts it.
    case changed(what: String)
}

extension ConfiguredAccount {
    /// The state of a fetched manifest; nil for a provider whose manifest is in the binary.
    package var manifestState: ManifestState? { (provider as? any ManifestFetching)?.manifestState }
}
