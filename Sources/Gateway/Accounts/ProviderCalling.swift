import Domain
import Logging
import ProviderKit

/// Access to the accounts' providers.
///
/// Calls are bounded for each account (``AccountLoad``), their ends count for its health, and a client who hangs up cuts
/// none of them (``ProviderCalls``).
struct ProviderCalling: Sendable {
    let registry: ProviderRegistry
    let calls: ProviderCalls
    let load: AccountLoad
    let logger: Logger

    func client(of account: ConfiguredAccount) -> AccountClient {
        AccountClient(account: account, load: load, logger: logger)
    }

    /// Runs a call in a task of its own, which the caller's cancellation does not reach.
    func perform<T: Sendable>(_ call: @escaping @Sendable () async -> T) async -> T { await calls.perform(call) }

    /// Runs a call that may fail in a task of its own, which the caller's cancellation does not reach.
    ///
    /// - Throws: the errors of the call.
    func complete<T: Sendable>(
        _ call: @escaping @Sendable () async throws(GatewayError) -> T
    ) async throws(GatewayError) -> T {
        let outcome = await calls.perform { () async -> Result<T, GatewayError> in
            do throws(GatewayError) { return .success(try await call()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}
