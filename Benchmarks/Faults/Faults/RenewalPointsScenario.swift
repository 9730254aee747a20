import TestSupport

/// Kills the server by SIGKILL before the writes of a renewal, one write after the other, in the life of one
/// subscription: each day it renews, and each day one later write is struck.
struct RenewalPointsScenario: Scenario {
    static let name = "renewal-points"
    static let engines = [TestEngine.sqlite]

    let length: Plan.Length
    let movesClock = true
    let keepsRounds = true

    /// The number of writes from one kill to the next: in a long run the rounds begin at different writes, and together
    /// strike each.
    private var stride: Int64 {
        switch length {
        case .brief: 60
        case .short: 25
        case .long: 4
        }
    }

    /// The rounds of a run: each reply of the service with each first write, where other runs have one first write.
    var rounds: Int { RenewalBeginning.Reply.allCases.count * (length == .long ? Int(stride) : 1) }

    /// The days of a life: the clock may be five years ahead.
    private static let mostDays: Int64 = 1_800
    /// The days without a kill after which no renewal makes so many writes; some days have more than others.
    private static let quietDays = 3
    /// The time after a renewal is due at which its day is compared: lost answers have been asked about by then.
    private static let settling: Int64 = 2 * 3_600
    /// The time for which one day may be moved without a kill and without its end.
    private static let patience = Duration.seconds(120)

    func run(_ bench: Bench, _ seed: RoundSeed) async throws -> Bool {
        let replies = RenewalBeginning.Reply.allCases
        let reply = replies[(seed.number - 1) % replies.count]
        var call = Int64((seed.number - 1) / replies.count) % stride + 1
        var row = Tally(engine: bench.place.engine, fault: Self.name)
        try await bench.prepare(for: ShimmedFault())
        let life = try await begin(bench, reply, round: bench.nextRound())
        var kills: [String: Int] = [:]
        var quiet = 0
        var most: Int64 = 0
        for day in 1...Self.mostDays where quiet < Self.quietDays && row.violations.isEmpty {
            let time = life.start(of: day) + Self.settling
            switch try await bench.strike(call, until: time, within: Self.patience) {
            case .killed:
                kills[bench.shim.name, default: 0] += 1
                quiet = 0
                call += stride
                row.recoveries.append(try await bench.start(for: ShimmedFault()))
                try await bench.clock.advance(to: time)
            case .ended:
                quiet += 1
                most = max(most, bench.shim.seen)
            case .silent(let violation):
                row.violations.append(violation)
                continue
            }
            bench.renewals.reach(time)
            row.violations += try await bench.compare()
        }
        let all = kills.values.reduce(0, +)
        if row.violations.isEmpty && quiet < Self.quietDays {
            row.violations.append("in \(Self.mostDays) days no renewal made its last write before write \(call)")
        }
        if all == 0 { row.violations.append("no renewal was struck, of which one made \(most) writes") }
        row.rounds = 1
        row.notes["kills (\(reply))"] = all
        let names = kills.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        say("\(bench.place.engine) renewal points, \(reply), every \(stride). write: \(names)")
        if row.violations.isEmpty { row.violations += try await bench.servers[0].check() }
        bench.report(row, "\(seed), \(reply)")
        return row.violations.isEmpty
    }

    /// Begins the life an hour before its first renewal.
    private func begin(
        _ bench: Bench, _ reply: RenewalBeginning.Reply, round: Int
    ) async throws -> RenewalLife {
        let wish = RenewalBeginning.Wish(
            user: "life-\(round)", plan: .daily, account: Configuration.renewalAccounts[0],
            firstStart: try await bench.clock.read().now + 3_600, reply: reply)
        try await bench.beginning.begin([wish], in: bench.renewals)
        guard let life = bench.renewals.all.last else { throw Server.Failure(description: "no subscription began") }
        return life
    }
}
