import Gateway
import Logging
import Store

/// Repeats the first calls to the database at start: a node and its database often start together, and a busy database
/// answers late.
struct WaitForDatabase: Sendable {
    let logger: Logger
    /// The time after which the start fails with the error of the last attempt.
    var limit = Duration.seconds(10)
    var interval = Duration.milliseconds(200)

    /// Runs a step of the start that needs the database, and repeats it while the database does not answer.
    func callAsFunction<T>(_ body: () async throws -> T) async throws -> T {
        let end = ContinuousClock.now + limit
        while true {
            do {
                return try await body()
            } catch  where Self.mayPass(error) && ContinuousClock.now < end {
                logger.warning("the database does not answer yet; the start waits")
                await SystemDependencies.pause(interval)
            }
        }
    }

    private static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case StoreError.unavailable, StoreError.outcomeUnknown, GatewayError.temporarilyUnavailable: true
        default: false
        }
    }
}
