import Store

/// Ends a transaction whose changes are only looked at.
private struct Seen: Error {
    let facts: Facts
}

extension Bench {
    /// Two rounds like any other, after which what clients were told is taken away, piece by piece and then whole.
    ///
    /// - Returns: whether the checker reported every loss.
    func lose(rounds: Int) async throws -> Bool {
        var (server, _) = try await start()
        let adminKey = try await server.makeAdminKey()
        for round in 1...max(rounds, 2) {
            if round == max(rounds, 2) {
                try await server.kill()
                try place.keepCopy()
                (server, _) = try await start()
            }
            try await load(round, server, adminKey: adminKey, for: .milliseconds(1_500))
            (server, _) = try await start()
            try await settled()
            try await resolve(killedAt: .now)
            let violations = try await compare()
            guard violations.isEmpty else {
                throw Server.Failure(description: "violations before anything was taken away: \(violations.prefix(5))")
            }
        }
        try await server.kill()
        let pieces = try await losePieces()
        try place.restoreCopy()
        (server, _) = try await start()
        let whole = report("the last round is forgotten", try await compare())
        try await server.stop()
        return pieces && whole
    }

    private func losePieces() async throws -> Bool {
        let store = try place.open()
        var isComplete = true
        do {
            for loss in try Loss.all(journal.calls) {
                isComplete = report(loss.name, try await violations(of: loss, in: store)) && isComplete
            }
        } catch {
            await store.engine.close()
            throw error
        }
        await store.engine.close()
        return isComplete
    }

    /// What the checker says of a database with this loss, which nobody sees afterwards.
    private func violations(of loss: Loss, in store: Store) async throws -> [String] {
        do {
            try await store.write { tx in
                guard try tx.execute(loss.sql, loss.arguments) > 0 else {
                    throw Server.Failure(description: "nothing to lose: \(loss.name)")
                }
                throw Seen(facts: try Facts(tx))
            }
            return []
        } catch let seen as Seen {
            return Checker.check(journal.calls, seen.facts)
        }
    }

    private func report(_ name: String, _ violations: [String]) -> Bool {
        let first = violations.min().map { ": \($0)" } ?? ""
        say("\(place.engine) \(name): \(violations.isEmpty ? "NOT NOTICED" : "reported \(violations.count)")\(first)")
        return !violations.isEmpty
    }
}
