import Foundation

/// The number of client connections that are open at once; further ones wait in the kernel's queue.
enum ConnectionLimit {
    /// A connection takes some tens of kilobytes, so this many limit the memory.
    private static let most = 20_000
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

    static func connections(descriptors: Int) -> Int {
        min(most, max(descriptors - reserve, descriptors / 2))
    }
}
