import Store

/// The rounds of one engine.
final class Bench: Sendable {
    let place: Place
    let binary: String
    let plan: RoundPlan
    let config: String
    let journal = Journal()

    /// An unfinished run holds its idempotency key so long; a second more, because the lease counts whole ones.
    static let lease = Duration.seconds(61)
    /// A worker that settles a notification holds its lease for 10 s, and is missed within a second.
    static let settling = Duration.seconds(15)

    init(_ place: Place, binary: String, plan: RoundPlan) async throws {
        self.place = place
        self.binary = binary
        self.plan = plan
        config = try Configuration.write(place)
    }

    func start() async throws -> (Server, Duration) {
        try await Server.start(place, binary: binary, config: config)
    }

    /// Kills the server so often under load, and checks after each time.
    ///
    /// - Returns: whether everything that clients were told was there.
    func run(rounds: Int) async throws -> Bool {
        var (server, _) = try await start()
        let adminKey = try await server.makeAdminKey()
        var summary = Summary(engine: place.engine)
        for round in 1...rounds {
            try await load(round, server, adminKey: adminKey, for: plan.load(round))
            let killed = ContinuousClock.now
            let restart: Duration
            (server, restart) = try await start()
            summary.restarts.append(restart)
            try await settled()
            var violations = try await compare()
            try await resolve(killedAt: killed)
            violations += try await compare() + server.check()
            summary.add(round, violations, journal, server.errors)
            if !violations.isEmpty { break }
        }
        if summary.violations.isEmpty {
            try await drain()
            summary.add(nil, try await compare() + server.check() + unanswered(), journal, server.errors)
        }
        try await server.stop()
        summary.show(journal)
        return summary.violations.isEmpty
    }

    /// Lets the clients of a round loose and kills the server in the midst of them.
    func load(_ round: Int, _ server: Server, adminKey: String, for duration: Duration) async throws {
        let clients = plan.clients(round, journal, adminKey: adminKey, port: place.port)
        try await withThrowingTaskGroup(of: ContinuousClock.Instant.self) { group in
            for client in clients {
                group.addTask {
                    var client = client
                    try await client.run()
                    return .now
                }
            }
            try await Task.sleep(for: duration)
            let killed = ContinuousClock.now
            try await server.kill()
            // A client that waits for nothing at this moment ends here, the others when their connections do.
            group.cancelAll()
            for try await ended in group where ended < killed {
                journal.complain("round \(round): the server left a client without an answer before it was killed")
            }
        }
        journal.cut()
    }

    /// Waits until the jobs have settled what was stored, which takes a dead worker's lease at most; the comparison says
    /// what is left over after that.
    func settled() async throws {
        let limit = ContinuousClock.now.advanced(by: Self.settling)
        let store = try place.openReadOnly()
        do {
            while ContinuousClock.now < limit {
                let isWaiting = try await store.read {
                    try $0.row("SELECT id FROM notifications WHERE status = 'stored'") != nil
                }
                guard isWaiting else { break }
                try await Task.sleep(for: .milliseconds(50))
            }
        } catch {
            await store.engine.close()
            throw error
        }
        await store.engine.close()
    }

    /// Compares the journal with the database of the running server.
    func compare() async throws -> [String] {
        let store = try place.openReadOnly()
        let result: Result<Facts, any Error>
        do { result = .success(try await store.read { try Facts($0) }) } catch { result = .failure(error) }
        await store.engine.close()
        return Checker.check(journal.calls, try result.get()) + journal.takeComplaints()
    }

    /// Sends every request again that nobody knows the outcome of; what another run's lease still holds is left.
    func resolve(killedAt: ContinuousClock.Instant) async throws {
        let due = journal.calls.filter { $0.told == nil && ($0.retryAt ?? .now) <= .now }
        let lanes = 8
        try await withThrowingTaskGroup { group in
            for lane in 0..<lanes {
                group.addTask { [journal, port = place.port] in
                    let connection = HTTPConnection(port: port)
                    for call in due where call.lane % lanes == lane {
                        guard let reply = await connection.send(call.request) else {
                            journal.complain("call \(call.number): a running server did not answer it")
                            continue
                        }
                        journal.end(
                            call.number, Reading(reply, to: call.purpose), retryAt: killedAt.advanced(by: Self.lease))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Waits for the last leases, so that every request is answered in the end.
    private func drain() async throws {
        let limit = ContinuousClock.now.advanced(by: Self.lease + .seconds(10))
        while ContinuousClock.now < limit {
            let waiting = journal.calls.filter { $0.told == nil }
            guard let next = waiting.map({ $0.retryAt ?? .now }).min() else { return }
            try await Task.sleep(until: next)
            try await resolve(killedAt: .now)
        }
    }

    private func unanswered() -> [String] {
        journal.calls.filter { $0.told == nil }.map {
            "call \($0.number), \($0.request.path): is not answered although its lease has ended"
        }
    }
}
