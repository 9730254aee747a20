import Store

/// Rolls back a transaction whose changes were only examined.
private struct Seen: Error {
    let facts: Facts
}

extension Bench {
    /// A slow machine may need more rounds to have something of every kind to lose.
    private static let mostRounds = 12

    /// Runs at least two rounds; after that it removes what clients were told, piece by piece and then as a whole.
    ///
    /// - Returns: whether the checker reported every loss.
    func lose(rounds: Int, seed: UInt64) async throws -> Bool {
        var round = 0
        var isLast = false
        repeat {
            round += 1
            isLast = round >= max(rounds, 2) && (round >= Self.mostRounds || (try? losses()) != nil)
            if isLast {
                try await servers[0].kill()
                try place.keepCopy()
                try await start()
            }
            var row = Tally(engine: place.engine, fault: KillFault.name)
            _ = try await load(RoundSeed(seed, KillFault.name, round), &row) { [servers] _, _ in
                try await Task.sleep(for: .milliseconds(1_500))
                let killed = ContinuousClock.now
                try await servers[0].kill()
                return .dead(since: killed)
            }
            try await start()
            try await settled()
            try await resolve(since: .now)
            try await settled()
            let violations = try await compare()
            guard violations.isEmpty else {
                throw Server.Failure(description: "violations before anything was taken away: \(violations.prefix(5))")
            }
        } while !isLast
        let messages = try await loseMessage()
        try await servers[0].kill()
        let pieces = try await losePieces()
        try place.restoreCopy()
        try await start()
        let whole = report("the last round is forgotten", try await compare())
        try await stop()
        return messages && pieces && whole
    }

    /// Removes a message from the endpoint's record.
    private func loseMessage() async throws -> Bool {
        try await settled()
        let id = receiver.forgetOne() ?? "none"
        // Other messages may still be on their way.
        let violations = try await undelivered(within: .seconds(5)).filter { $0.contains("event \(id)") }
        return report("a message never came", violations)
    }

    private func losses() throws -> [Loss] { try Loss.all(journal.calls) + service.book.losses() }

    private func losePieces() async throws -> Bool { try await lose(try losses()) }

    /// Removes each piece by itself from the database of a dead server.
    ///
    /// - Returns: whether the checker reported every loss.
    func lose(_ losses: [Loss]) async throws -> Bool {
        let store = try place.open()
        var isComplete = true
        do {
            for loss in losses {
                isComplete = report(loss.name, try await violations(of: loss, in: store)) && isComplete
            }
        } catch {
            await store.engine.close()
            throw error
        }
        await store.engine.close()
        return isComplete
    }

    /// Returns the checker's violations for a database with this loss, which is rolled back.
    private func violations(of loss: Loss, in store: Store) async throws -> [String] {
        do {
            try await store.write { tx in
                for statement in loss.statements {
                    guard try tx.execute(statement.sql, statement.arguments) > 0 else {
                        throw Server.Failure(description: "nothing to lose: \(loss.name)")
                    }
                }
                throw Seen(facts: try Facts(tx))
            }
            return []
        } catch let seen as Seen {
            return check(seen.facts)
        }
    }

    /// Prints the name of a loss and what the checker says to it.
    ///
    /// - Returns: whether it was reported.
    func report(_ name: String, _ violations: [String]) -> Bool {
        let first = violations.min().map { ": \($0)" } ?? ""
        say("\(place.engine) \(name): \(violations.isEmpty ? "NOT NOTICED" : "reported \(violations.count)")\(first)")
        return !violations.isEmpty
    }
}
