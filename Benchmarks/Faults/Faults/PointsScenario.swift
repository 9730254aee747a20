import Store

/// Kills the server by SIGKILL at every write: at each call of an operation that writes to a file of the database,
/// makes it durable or sends data, one call after the other.
struct PointsScenario: Scenario {
    static let name = "points"

    /// The number of writes from one kill to the next; the first one is the seed's choice.
    let distance: Int64
    let keepsRounds = true

    enum Operation: CaseIterable {
        case attach, checkout, notification, refund, token, cancellation
    }

    /// The number of kills after which unanswered requests are repeated, as clients do: a wallet's token is valid for
    /// five minutes.
    private static let patience = 30

    /// More calls than any operation makes.
    private static let limit: Int64 = 1_000

    /// Runs one operation at one moment: the first rounds kill before the calls of each operation in turn.
    func run(_ bench: Bench, _ seed: RoundSeed) async throws -> Bool {
        let index = seed.number - 1
        let operation = Operation.allCases[index % Operation.allCases.count]
        let moment = Shim.Moment.allCases[index / Operation.allCases.count % Shim.Moment.allCases.count]
        var row = Tally(engine: bench.place.engine, fault: Self.name)
        var dice = seed.dice
        var calls: [String: Int] = [:]
        try await bench.prepare(for: ShimmedFault())
        var client = seed.clients(
            2, round: bench.nextRound(), bench.journal, bench.service, adminKey: bench.adminKey,
            ports: [bench.place.port])[0]
        let before = bench.journal.counts
        for call in stride(from: Int64.random(in: 1...distance, using: &dice), through: Self.limit, by: Int(distance)) {
            client.reconnect()
            let act = try await prepare(operation, &client)
            bench.shim.arm(.kill, at: call, of: [.write, .sync, .send], moment)
            let isAnswered = (try? await client.ask(act)) != nil
            if isAnswered && operation == .notification { try await bench.poll(for: .seconds(2), Self.isSettled) }
            bench.shim.disarm()
            if !bench.shim.hasStruck { break }
            calls[bench.shim.name, default: 0] += 1
            try await bench.servers[0].isKilled()
            row.recoveries.append(try await bench.start(for: ShimmedFault()))
            if calls.values.reduce(0, +).isMultiple(of: Self.patience) {
                bench.journal.cut()
                try await bench.resolve(since: .now)
            }
        }
        bench.journal.cut()
        row.rounds = 1
        row.acknowledged = bench.journal.counts.told - before.told
        row.notes["\(operation) (\(moment))"] = calls.values.reduce(0, +)
        let names = calls.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        say("\(bench.place.engine) points of \(operation), killed \(moment), every \(distance). write: \(names)")
        return try await bench.close(&row, "\(operation) \(moment)", since: .now)
    }

    /// Makes what an operation needs, without striking it, and returns the operation's request.
    private func prepare(_ operation: Operation, _ client: inout Client) async throws -> Client.Act {
        switch operation {
        case .attach:
            let (sale, jws) = client.makeSale()
            return try client.attachment(sale, jws, by: client.user)
        case .checkout: return try client.checkout(at: Configuration.urlAccount).act
        case .notification: return try client.notification(try await open(&client).order, event: client.nextKey())
        case .cancellation: return try client.cancellation(try await open(&client).order, key: client.nextKey())
        case .token:
            let (order, wallet) = try await open(&client, at: Configuration.walletAccount)
            return try client.token(order, boundTo: wallet)
        case .refund:
            return try client.refund(try await open(&client, at: Configuration.noneAccount).order, amount: nil)
        }
    }

    private func open(
        _ client: inout Client, at account: String = Configuration.urlAccount
    ) async throws -> (order: OpenedOrder, wallet: String) {
        let (cart, act) = try client.checkout(at: account)
        guard case .opened(let order, let payment, let amount, let wallet) = try await client.ask(act) else {
            throw Server.Failure(description: "no order can be opened")
        }
        return (OpenedOrder(id: order, payment: payment, cart: cart, amount: amount), wallet ?? "")
    }

    private static let isSettled: @Sendable (any Database) throws -> Bool = {
        try $0.row("SELECT id FROM notifications WHERE status = 'stored'") == nil
    }
}
