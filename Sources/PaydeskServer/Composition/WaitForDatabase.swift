import Gateway
import Logging
import Store

/// The patience of a start: a node and its database often start together, and a busy database answers late.
struct WaitForDatabase: Sendable {
    let logger: Logger
    /// After so long the start fails as it would have at once.
    var limit = Duration.seconds(10)
    var interval = Duration.milliseconds(200)

    /// Runs what a start needs of the database, and runs it again while that does not answer.
    func callAsFunction<T>(_ body: () async throws -> T) async throws -> T {
        let end = ContinuousClock.now + limit
        while true {
            do {
                return try await body()
            } catch  where Self.mayPass(error) && ContinuousClock.now < end {
                logger.warning("the database does not answer yet; the start waits")
                await Live.pause(interval)
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
