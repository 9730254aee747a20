package import Domain

/// A request to move business time: exactly one of both.
package struct ClockRequest: Codable, Sendable, Equatable {
    package let advance_seconds: Int64?
    package let to: Timestamp?

    package init(advance_seconds: Int64? = nil, to: Timestamp? = nil) {
        self.advance_seconds = advance_seconds
        self.to = to
    }
}

/// The end of a move of the clock.
struct ClockGoal: Sendable, Equatable {
    /// Five years.
    static let largestOffset: Int64 = 157_680_000

    let time: Timestamp
    /// The offset afterwards; nil for the one at which the clock shows `time` when the move ends.
    let offset: Int64?

    init(time: Timestamp, offset: Int64?) {
        self.time = time
        self.offset = offset
    }

    /// - Throws: `invalidRequest`.
    init(_ request: ClockRequest, offset: Int64, real: Timestamp) throws(GatewayError) {
        let tooFar = "must not lead more than 157,680,000 seconds (5 years) ahead of the real time"
        switch (request.advance_seconds, request.to) {
        case (let seconds?, nil):
            guard (1...Self.largestOffset).contains(seconds) else {
                throw .invalidRequest(field: "advance_seconds", reason: "must be 1 to 157,680,000")
            }
            guard offset + seconds <= Self.largestOffset else {
                throw .invalidRequest(field: "advance_seconds", reason: LocalizedText(stringLiteral: tooFar))
            }
            self.init(time: real.adding(seconds: offset + seconds), offset: offset + seconds)
        case (nil, let time?):
            guard time > real.adding(seconds: offset) else {
                throw .invalidRequest(field: "to", reason: "must be later than now")
            }
            guard time <= real.adding(seconds: Self.largestOffset) else {
                throw .invalidRequest(field: "to", reason: LocalizedText(stringLiteral: tooFar))
            }
            self.init(time: time, offset: nil)
        case (nil, nil), (_?, _?):
            throw .invalidRequest(field: "advance_seconds", reason: "or to: exactly one of the two is needed")
        }
    }

    /// Reads the goal that an earlier run under the same idempotency key had.
    init?(resource: String) {
        let parts = resource.split(separator: "/").map(String.init)
        guard parts.count == 3, parts[0] == "clock", let time = Int64(parts[1]) else { return nil }
        self.init(time: Timestamp(time), offset: Int64(parts[2]))
    }

    /// The text by which the idempotency key keeps the goal.
    var resource: String { "clock/\(time.rawValue)/\(offset.map(String.init) ?? "to")" }

    /// Returns whether the clock has reached the goal.
    func isReached(offset current: Int64, real: Timestamp) -> Bool {
        offset.map { current >= $0 } ?? (real.adding(seconds: current) >= time)
    }

    /// Returns the time of the next step: the least due time up to the limit, else the limit; nil at the limit.
    static func nextStep(after now: Timestamp, due: [Timestamp?], limit: Timestamp) -> Timestamp? {
        guard now < limit else { return nil }
        let next = due.compactMap { $0 }.filter { $0 > now }.min()
        return min(next ?? limit, limit)
    }
}
