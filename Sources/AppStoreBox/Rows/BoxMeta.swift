package import Domain

/// The one row of the App Store in a box that is not about a purchase.
package struct BoxMeta: Codable, Sendable, Equatable {
    /// The way in which notifications travel.
    package struct Delivery: Codable, Sendable, Equatable {
        package enum Mode: String, Codable, Sendable, CaseIterable {
            case normal, off, twice, late, shuffled
        }

        package let mode: Mode
        /// Business seconds that `late` and `shuffled` wait.
        package let seconds: Int64

        package init(mode: Mode, seconds: Int64 = 60) {
            self.mode = mode
            self.seconds = seconds
        }
    }

    /// The number of the newest id; it only grows, also in a reset.
    package internal(set) var lastNumber: Int64
    /// The newest `signedDate`, business milliseconds.
    package internal(set) var lastSignedAt: Int64
    package internal(set) var delivery: Delivery
    /// Calls of Apple's server API in a second; nil: no limit.
    package internal(set) var callsPerSecond: Int64?

    /// An App Store that is opened for the first time; its ids begin at a random number.
    package init(random: RandomSource) {
        let start = random.bytes(7).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        self.init(lastNumber: start % 10_000_000_000_000_000)
    }

    init(lastNumber: Int64) {
        self.lastNumber = lastNumber
        lastSignedAt = 0
        delivery = Delivery(mode: .normal)
        callsPerSecond = nil
    }

    /// Returns the row of a new, empty App Store whose ids and dates go on from this one's.
    package func reset() -> BoxMeta {
        var fresh = BoxMeta(lastNumber: lastNumber)
        fresh.lastSignedAt = lastSignedAt
        return fresh
    }

    package func delivering(_ delivery: Delivery) -> BoxMeta {
        var changed = self
        changed.delivery = delivery
        return changed
    }

    package func limited(to callsPerSecond: Int64?) -> BoxMeta {
        var changed = self
        changed.callsPerSecond = callsPerSecond
        return changed
    }

    /// Takes the next id: 18 digits that begin with 9.
    mutating func nextID() -> String {
        lastNumber += 1
        return String(900_000_000_000_000_000 + lastNumber)
    }

    /// Takes the next `signedDate`: the time of the event, or a millisecond after the one before it.
    mutating func nextSignedAt(_ now: Int64) -> Int64 {
        lastSignedAt = max(lastSignedAt + 1, now)
        return lastSignedAt
    }
}
