public import ProviderKit

/// Paydesk as a library: a binary of one's own consists of this call and its providers.
public enum PaydeskServer {
    /// Runs the command line with these kinds of provider and ends the process with its exit code.
    ///
    /// Exit codes: 0 good, 1 a check failed, 2 wrong usage or configuration, 3 the database is unreachable or owned by
    /// another process.
    public static func run(providers: [any PaymentProvider.Type]) async -> Never {
        await CommandLineTool.run(providers: providers)
    }
}

/// The name and version of this build.
enum Release {
    static let version = "1.0.0"
}
