import Foundation

/// The number of client connections that are open at once; further ones wait in the kernel's queue.
enum ConnectionLimit {
    /// A connection takes some tens of kilobytes, so this many limit the memory.
    private static let most = 20_000
    /// The new connections that may wait to be accepted; the kernel's `net.core.somaxconn` (4,096 by default) bounds it.
    ///
    /// A connection that finds the queue full is dropped without a word, and its client repeats its packets after 1, 3
    /// and 7 seconds (listen(2), tcp(7)): a burst of users must not delay a load balancer's `/readyz`.
    static let backlog = 65_535
    /// The file descriptors for everything else: the database, providers, webhooks, files.
    private static let reserve = 1_024

    /// Raises the limit of open files as far as allowed, and returns the connections that leave a reserve.
    ///
    /// Without a free descriptor the process could reach neither its database nor a provider.
    static func raise() -> Int {
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return reserve / 2 }
        let wanted = rlim_t(most + reserve)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = min(wanted, limit.rlim_max)
            if setrlimit(kind, &raised) == 0 { limit = raised }
        }
        return connections(descriptors: Int(clamping: limit.rlim_cur))
    }

    /// Returns the live streams of this node: at most half of its connections, which leaves the rest to requests.
    static func streams(_ configured: Int64) -> Int { min(Int(clamping: configured), raise() / 2) }

    static func connections(descriptors: Int) -> Int {
        min(most, max(descriptors - reserve, descriptors / 2))
    }
}
