import TestSupport

/// Kills the server by SIGKILL at any write while the renewals of many subscriptions are due; each round is a period of
/// all of them.
struct RenewalsScenario: Scenario {
    static let name = "renewals"

    let engine: TestEngine
    let isLong: Bool
    let movesClock = true

    private var subscriptions: Int { isLong ? 10_000 : 60 }
    /// The kills of a period.
    ///
    /// On PostgreSQL the leases of a dead server's jobs are waited for after each.
    private var kills: Int { engine == .postgres ? (isLong ? 3 : 1) : (isLong ? 40 : 3) }
    /// The highest call that is struck, fewer than the renewals of a period make.
    private var calls: Int64 { isLong ? 30_000 : 1_000 }
    /// The renewals of a period come at so many times, this long apart.
    private static let times: Int64 = 50
    private static let distance: Int64 = 1_200
    /// The time until the first renewal: every subscription must have begun before.
    private static let lead: Int64 = 86_400
    /// The time after the last renewal of a period at which it is compared: lost answers have been asked about by then.
    private static let settling: Int64 = 2 * 3_600
    /// The share of the subscriptions, in percent, whose charges are never answered.
    private static let losses = 20
    /// The time for which the clock may be moved without a kill and without the period's end.
    private static let patience = Duration.seconds(1_200)

    func run(_ bench: Bench, _ seed: RoundSeed) async throws -> Bool {
        var row = Tally(engine: engine, fault: Self.name)
        var dice = seed.dice
        try await bench.prepare(for: ShimmedFault())
        if bench.renewals.all.isEmpty { try await begin(bench, &dice) }
        let struck = ContinuousClock.now
        guard let first = bench.renewals.all.map(\.firstStart).min() else {
            throw Server.Failure(description: "no subscription began")
        }
        let time =
            first + Int64(seed.number - 1) * RenewalPlan.weekly.length + Self.times * Self.distance + Self.settling
        var killed = 0
        strikes: while killed < kills {
            let call = Int64.random(in: 1...calls, using: &dice)
            switch try await bench.strike(call, until: time, within: Self.patience) {
            case .killed:
                killed += 1
                row.recoveries.append(try await bench.start(for: ShimmedFault()))
            case .ended: break strikes
            case .silent(let violation):
                row.violations.append(violation)
                bench.report(row, "\(seed)")
                return false
            }
        }
        try await bench.clock.advance(to: time)
        bench.renewals.reach(time)
        if killed == 0 { row.violations.append("\(seed): the period ended before the server was struck") }
        row.rounds = 1
        row.notes["kills"] = killed
        row.notes["periods charged"] = bench.renewals.all.count
        return try await bench.close(&row, "\(seed)", since: struck)
    }

    private func begin(_ bench: Bench, _ dice: inout Dice) async throws {
        let now = try await bench.clock.read().now
        let accounts = Configuration.renewalAccounts
        let wishes = (0..<subscriptions).map { index in
            RenewalBeginning.Wish(
                user: "life-\(index)", plan: .weekly, account: accounts[index % accounts.count],
                firstStart: now + Self.lead + Int64(index) % Self.times * Self.distance,
                reply: dice.chance(Self.losses) ? .lost : .answered)
        }
        try await bench.beginning.begin(wishes, in: bench.renewals)
    }
}
