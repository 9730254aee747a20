import Foundation

extension Bench {
    /// The end of a move of the clock while one of the server's calls was to be struck.
    enum Strike: Sendable {
        /// The server was killed before the call.
        case killed
        /// The clock came to its goal, and nothing was left to do, before so many calls were made.
        case ended
        /// The server hung, or ended by itself, without the kill; it is dead now. Holds the violation.
        case silent(String)
    }

    /// Moves the clock to a time, and kills the server before one of the calls that it makes meanwhile.
    ///
    /// A server without an answer that was not killed has not made its last call: only a goal that was reached says so.
    ///
    /// - Parameters:
    ///   - call: counts what writes to the database's files, makes them durable or sends something, from 1.
    ///   - limit: the time for which the clock may be moved without a kill and without its goal.
    func strike(_ call: Int64, until time: Int64, within limit: Duration) async throws -> Strike {
        let end = ContinuousClock.now + limit
        var goal = time
        shim.arm(.kill, at: call, of: [.write, .sync, .send])
        defer { shim.disarm() }
        while ContinuousClock.now < end {
            let move = try await clock.move(to: goal)
            var isOver = false
            if case .moved(let reading) = move {
                isOver = reading.pending == 0 && reading.now >= time
                goal = max(time, reading.now + 2)
            }
            // A call that comes after the answer must not be struck unseen.
            if isOver { shim.disarm() }
            if shim.hasStruck {
                try await servers[0].isKilled()
                return .killed
            }
            if isOver { return .ended }
            if case .gone = move { return try await silent("did not answer", call) }
            try await Task.sleep(for: .milliseconds(100))
        }
        return try await silent("did not come to \(time) in time", call)
    }

    private func silent(_ what: String, _ call: Int64) async throws -> Strike {
        let seen = shim.seen
        let ended = servers[0].ended().map { ", it had ended with \($0)" } ?? ""
        let said = servers[0].errors.suffix(1_000)
        shim.disarm()
        try await kill()
        return .silent(
            "the server \(what), and was not killed before call \(call): it made \(seen)\(ended) \(said)")
    }
}
