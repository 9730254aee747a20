import Foundation
import Store
import TestSupport

/// A database, the servers that use it, and a journal of everything that their clients were told.
final class Bench {
    let place: Place
    let binary: String
    let config: String
    let shim: Shim
    let clients: Int
    let journal = Journal()
    let receiver: Receiver
    let service: PaymentService
    /// The subscriptions that this bench has begun.
    let renewals = RenewalLives()
    private(set) var summary = Summary()
    private(set) var servers: [Server] = []
    private(set) var adminKey = ""
    /// The name of the fault for which the running servers were started.
    private var startedFor = ""
    /// The number of servers that get requests.
    private var serving = 1
    private var round = 0

    /// The time for which an unfinished request holds its idempotency key; a second more, because leases count whole
    /// seconds.
    static let lease = Duration.seconds(61)
    /// The time until a stored notification is settled: a worker holds its lease for 10 s, its death is noticed within
    /// a second, and after several attempts without a result the next one waits up to 30 s.
    static let settling = Duration.seconds(45)
    /// The time until a provider whose answer was lost is queried: a lease, and some more attempts where kills ended
    /// that one, too.
    static let asking = lease + .seconds(90)

    /// - Parameter movesClock: true for rounds of renewals, which no endpoint may hold up.
    init(_ place: Place, binary: String, clients: Int, shimSource: String, movesClock: Bool = false) async throws {
        self.place = place
        self.binary = binary
        self.clients = clients
        service = try PaymentService()
        config = try Configuration.write(place, service: service.url)
        shim = try await Shim(source: shimSource, in: place.folder)
        receiver = try Receiver()
        try await start()
        adminKey = try await servers[0].makeAdminKey()
        try await receiver.subscribe(at: place.port, adminKey, hanging: !movesClock)
    }

    /// Kills the servers of a run that cannot continue.
    deinit {
        for server in servers where server.ended() == nil { server.send(SIGKILL) }
        service.stop()
    }

    // MARK: Servers

    /// Starts the servers that a fault needs, or one without a fault.
    ///
    /// - Returns: the time until all of them could serve.
    @discardableResult
    func start(for fault: (any Fault)? = nil) async throws -> Duration {
        let began = ContinuousClock.now
        servers = try (0..<(fault?.nodes ?? 1)).map { node in
            try Server(
                place, binary: binary, config: config, node: node,
                environment: fault?.environment(place, shim, node: node) ?? [:])
        }
        startedFor = fault.map { type(of: $0).name } ?? ""
        serving = fault?.servingNodes ?? 1
        for server in servers.prefix(fault?.servingNodes ?? 1) {
            guard try await server.isReady() else {
                throw Server.Failure(description: "the server ended by itself: \(server.errors.suffix(2_000))")
            }
        }
        return began.duration(to: .now)
    }

    /// Restarts the servers where the fault needs other ones.
    func prepare(for fault: any Fault) async throws {
        if startedFor == type(of: fault).name && fault.environment(place, shim, node: 0).isEmpty { return }
        // An orderly stop waits for the hanging endpoint; only the last one is orderly.
        try await kill()
        try await start(for: fault)
    }

    func kill() async throws {
        for server in servers where server.ended() == nil { try await server.kill() }
    }

    func stop() async throws {
        for server in servers where server.ended() == nil { try await server.stop() }
    }

    // MARK: Rounds

    /// Returns a number that no earlier round of this bench had.
    func nextRound() -> Int {
        round += 1
        return round
    }

    /// Runs a round of a fault: load, the fault, recovery, comparison.
    ///
    /// - Returns: false when something is missing that clients were told.
    func run(_ fault: any Fault, _ seed: RoundSeed) async throws -> Bool {
        try await prepare(for: fault)
        var row = Tally(engine: place.engine, fault: type(of: fault).name)
        let aftermath = try await load(seed, &row) { [shim, place, servers, journal] dice, notes in
            let target = Target(place: place, servers: servers, shim: shim, journal: journal)
            return try await fault.strike(target, &dice, &notes)
        }
        shim.disarm()
        let struck = ContinuousClock.now
        switch aftermath {
        case .dead:
            do {
                row.recoveries.append(try await start())
            } catch let failure as Server.Failure {
                row.violations.append("the server does not start again: \(failure)")
                report(row, "\(seed)")
                return false
            }
        case .alive(let recovery, _):
            row.recoveries += [recovery].compactMap(\.self)
            for server in servers where server.ended() != nil {
                journal.complain("a server died that should live: \(server.errors.suffix(1_000))")
            }
            if servers.contains(where: { $0.ended() != nil }) {
                try await kill()
                try await start()
            }
        }
        row.rounds += 1
        if !seed.isLast && !seed.number.isMultiple(of: fault.comparedEvery) {
            report(row, "\(seed)")
            return true
        }
        return try await close(&row, "\(seed)", since: struck)
    }

    /// Compares what clients were told with the database, before and after every open request is repeated, and records
    /// the row.
    func close(_ row: inout Tally, _ moment: String, since: ContinuousClock.Instant) async throws -> Bool {
        try await settled()
        row.violations += try await compare()
        try await resolve(since: since)
        // An acknowledged notification is stored, but its settlement may still be running.
        try await settled()
        row.violations += try await compare() + servers[0].check()
        report(row, moment)
        return row.violations.isEmpty
    }

    /// Records a row and prints its violations.
    func report(_ row: Tally, _ moment: String) {
        summary.add(row)
        if row.violations.isEmpty { return }
        say("\(place.engine) \(row.fault), \(moment): \(row.violations.count) violations")
        for line in row.violations.prefix(20) { say("  VIOLATION \(line)") }
        for server in servers where !server.errors.isEmpty { say("  a server says: \(server.errors.suffix(2_000))") }
    }

    /// Runs a round's clients and strikes the fault while they are at work.
    func load(
        _ seed: RoundSeed, _ row: inout Tally,
        strike: @Sendable @escaping (inout Dice, inout Notes) async throws -> Aftermath
    ) async throws -> Aftermath {
        let serving = serving
        let made = seed.clients(
            clients, round: nextRound(), journal, service, adminKey: adminKey,
            ports: servers.prefix(serving).map(\.port))
        let before = journal.counts
        var dice = seed.dice
        var notes = Notes()
        let aftermath = try await withThrowingTaskGroup(of: ContinuousClock.Instant?.self) { group in
            for client in made {
                group.addTask {
                    var client = client
                    return try await client.run() ? .now : nil
                }
            }
            let aftermath = try await strike(&dice, &notes)
            // A client that waits for no answer ends here, the others when their connections end.
            group.cancelAll()
            for try await cut in group {
                guard let cut else { continue }
                if case .dead(let since) = aftermath, cut >= since { continue }
                if case .alive(_, keepsConnections: false) = aftermath { continue }
                journal.complain("\(seed): a server left a client without an answer")
            }
            return aftermath
        }
        journal.cut()
        row.notes.merge(notes, uniquingKeysWith: +)
        row.requests += journal.counts.all - before.all
        row.acknowledged += journal.counts.told - before.told
        return aftermath
    }

    /// Waits until the jobs have settled the stored notifications, which takes at most a dead worker's lease.
    ///
    /// The comparison reports those that are left.
    func settled() async throws {
        try await poll(for: Self.settling) {
            try $0.row("SELECT id FROM notifications WHERE status = 'stored'") == nil
        }
    }

    /// Queries the database until the condition holds or the time is over, and returns whether it held.
    @discardableResult
    func poll(for limit: Duration, _ isOver: @escaping @Sendable (any Database) throws -> Bool) async throws -> Bool {
        let limit = ContinuousClock.now + limit
        let store = try place.openReadOnly()
        var isDone = false
        do {
            repeat {
                isDone = try await store.read(isOver)
                if !isDone { try await Task.sleep(for: .milliseconds(50)) }
            } while !isDone && ContinuousClock.now < limit
        } catch {
            await store.engine.close()
            throw error
        }
        await store.engine.close()
        return isDone
    }

    /// Compares the journal and the payment service's book with the database of the running server.
    ///
    /// - Parameter isEnd: true where every payment must be known.
    func compare(isEnd: Bool = false) async throws -> [String] {
        let store = try place.openReadOnly()
        let result: Result<Facts, any Error>
        do { result = .success(try await store.read { try Facts($0) }) } catch { result = .failure(error) }
        await store.engine.close()
        return check(try result.get(), isEnd: isEnd) + journal.takeComplaints()
    }

    func check(_ facts: Facts, isEnd: Bool = false) -> [String] {
        Checker.check(journal.calls, facts) + service.book.violations(facts, isEnd: isEnd)
            + RenewalChecker.check(renewals.all, facts.renewals, isEnd: isEnd)
    }

    // MARK: The end

    /// Waits for the last leases, and compares once more when every request is answered and every event delivered.
    func finish() async throws -> Bool {
        if startedFor != "" {
            try await stop()
            try await start()
        }
        var row = Tally(engine: place.engine, fault: "the end")
        let before = journal.counts
        try await drain()
        try await settled()
        row.violations = try await compare(isEnd: true) + servers[0].check() + unanswered() + undelivered()
        row.rounds = 1
        row.acknowledged = journal.counts.told - before.told
        row.notes["webhook messages"] = receiver.messages
        report(row, "with \(journal.counts.all) requests")
        try await stop()
        return row.violations.isEmpty
    }

    /// Repeats every request whose outcome is unknown, unless the lease of an earlier attempt still holds its key.
    func resolve(since: ContinuousClock.Instant) async throws {
        let due = journal.calls.filter { $0.told == nil && ($0.retryAt ?? .now) <= .now }
        let lanes = 8
        try await withThrowingTaskGroup { group in
            for lane in 0..<lanes {
                group.addTask { [journal, port = place.port] in
                    let connection = HTTPConnection(port: port)
                    for call in due where call.lane % lanes == lane {
                        journal.sendAgain(call.number)
                        guard let reply = await connection.send(call.request) else {
                            journal.complain("call \(call.number): a running server did not answer it")
                            continue
                        }
                        let isPending = call.purpose.isPending(reply.status)
                        journal.end(
                            call.number, Reading(reply, to: call.purpose),
                            retryAt: isPending ? .now : since.advanced(by: Self.lease))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func drain() async throws {
        let limit = ContinuousClock.now.advanced(by: Self.asking)
        while ContinuousClock.now < limit {
            let waiting = journal.calls.filter { $0.told == nil }
            guard let next = waiting.map({ $0.retryAt ?? .now }).min() else { return }
            try await Task.sleep(until: max(next, .now + .seconds(2)))
            try await resolve(since: .now)
        }
    }

    private func unanswered() -> [String] {
        journal.calls.filter { $0.told == nil }.map {
            "call \($0.number), \($0.request.path): is not answered although its lease has ended"
        }
    }

    /// Waits for the events of dead dispatchers, and lists those that were never delivered.
    func undelivered(within limit: Duration = Bench.lease + .seconds(15)) async throws -> [String] {
        try await poll(for: limit) { [receiver] in receiver.missing(try Receiver.events($0)).isEmpty }
        let store = try place.openReadOnly()
        let events: Result<[Receiver.Event], any Error>
        do { events = .success(try await store.read(Receiver.events)) } catch { events = .failure(error) }
        await store.engine.close()
        return receiver.violations(try events.get())
    }
}
