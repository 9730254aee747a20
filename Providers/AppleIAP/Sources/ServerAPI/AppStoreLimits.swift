import AppleTrust
import Synchronization

/// A token bucket for each endpoint and environment: calls take turns so that Apple's rate limits are kept.
///
/// Each node counts its own calls; where several share an app's limit, Apple's 429 and its `Retry-After` bring them in
/// line.
final class AppStoreLimits: Sendable {
    /// The time at which a call may be made; not reserved (`isTaken` is false) where it is too far away.
    struct Turn: Equatable {
        let at: Int64
        let isTaken: Bool
    }

    private struct Key: Hashable {
        let endpoint: AppStoreEndpoint
        let environment: AppleEnvironment
    }

    private let buckets = Mutex<[Key: AppStoreBucket]>([:])

    /// Takes the next free turn of an endpoint.
    func turn(_ endpoint: AppStoreEndpoint, _ environment: AppleEnvironment, now: Int64, longestWait: Int64) -> Turn {
        change(endpoint, environment) { $0.turn(now: now, longestWait: longestWait) }
    }

    /// Gives no turn before this time: Apple said so.
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

/// A token bucket, kept as the time at which it will be full again (the generic cell rate algorithm).
struct AppStoreBucket: Sendable {
    /// Milliseconds in which one token comes back.
    let interval: Int64
    /// The number of tokens it holds.
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

    /// Moves with a clock that is turned back, so that nobody waits for a time that was never meant.
    private mutating func follow(_ now: Int64) {
        if now < seen { fullAt -= seen - now }
        seen = now
        fullAt = max(fullAt, now)
    }
}
