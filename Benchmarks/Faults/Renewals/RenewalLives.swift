import Synchronization

/// A subscription that the bench has begun, with the time until which it must be charged.
struct RenewalLife: Sendable {
    let subscription: String
    let user: String
    let account: String
    let plan: RenewalPlan
    /// The start of period 1, the first one that is charged.
    let firstStart: Int64
    /// The business time at which every renewal that was due must be made.
    var chargedUntil: Int64 = 0

    /// The number of periods that must be charged by now.
    var due: Int64 { chargedUntil < firstStart ? 0 : (chargedUntil - firstStart) / plan.length + 1 }

    func start(of period: Int64) -> Int64 { firstStart + (period - 1) * plan.length }
}

/// The subscriptions of a bench, written down outside of the process that is killed.
final class RenewalLives: Sendable {
    private let lives = Mutex<[RenewalLife]>([])

    var all: [RenewalLife] { lives.withLock { $0 } }

    func add(_ life: RenewalLife) { lives.withLock { $0.append(life) } }

    /// Notes that the clock has come to a time, and that nothing was left to do there.
    func reach(_ time: Int64) {
        lives.withLock { lives in
            for index in lives.indices { lives[index].chargedUntil = max(lives[index].chargedUntil, time) }
        }
    }
}
