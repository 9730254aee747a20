import AppleTrust
import Synchronization

/// A token bucket for each endpoint and environment, so that calls respect Apple's rate limits.
///
/// Each node counts only its own calls; where several share an app's limit, Apple's 429 and its `Retry-After` slow them
/// down.
final class AppStoreLimits: Sendable {
    /// The time of a call; `isTaken` is false where it is too far ahead to be reserved.
    struct Turn: Equatable {
        let at: Int64
        let isTaken: Bool
    }

    private struct Key: Hashable {
        let endpoint: AppStoreEndpoint
        let environment: AppleEnvironment
    }

    private let buckets = Mutex<[Key: AppStoreBucket]>([:])

    /// Reserves the next free time of an endpoint.
    func turn(_ endpoint: AppStoreEndpoint, _ environment: AppleEnvironment, now: Int64, longestWait: Int64) -> Turn {
        change(endpoint, environment) { $0.turn(now: now, longestWait: longestWait) }
    }

    /// Delays all calls of an endpoint until a time that Apple named.
    func hold(_ endpoint: AppStoreEndpoint, _ environment: AppleEnvironment, until: Int64, now: Int64) {
        change(endpoint, environment) { $0.hold(until: until, now: now) }
    }

    private func change<Value: Sendable>(
        _ endpoint: AppStoreEndpoint, _ environment: AppleEnvironment, _ body: (inout AppStoreBucket) -> Value
    ) -> Value {
        buckets.withLock {
            body(
                &$0[
                    Key(endpoint: endpoint, environment: environment),
                    default: AppStoreBucket(
                        interval: endpoint.interval(environment), burst: max(1, endpoint.perSecond / 10))])
        }
    }
}

/// A token bucket, stored as the time at which it will be full again (the generic cell rate algorithm).
struct AppStoreBucket: Sendable {
    /// The milliseconds until a token is added.
    let interval: Int64
    /// The number of tokens in a full bucket.
    let burst: Int64
    private var fullAt = Int64.min
    private var seen = Int64.min

    init(interval: Int64, burst: Int64) {
        self.interval = interval
        self.burst = burst
    }

    mutating func turn(now: Int64, longestWait: Int64) -> AppStoreLimits.Turn {
        follow(now)
        let at = max(now, fullAt - (burst - 1) * interval)
        guard at - now <= longestWait else { return .init(at: at, isTaken: false) }
        fullAt = max(fullAt, now) + interval
        return .init(at: at, isTaken: true)
    }

    mutating func hold(until: Int64, now: Int64) {
        follow(now)
        fullAt = max(fullAt, until + (burst - 1) * interval)
    }

    /// Follows a clock that was set back, so that no call waits for a time that is far ahead only because of that.
    private mutating func follow(_ now: Int64) {
        if now < seen { fullAt -= seen - now }
        seen = now
        fullAt = max(fullAt, now)
    }
}
