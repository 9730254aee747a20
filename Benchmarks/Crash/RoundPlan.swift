/// What happens in each round, decided by the seed alone.
struct RoundPlan: Sendable {
    let seed: UInt64
    let clients: Int

    /// How long the load runs before the server is killed.
    func load(_ round: Int) -> Duration {
        var dice = Dice(seed, round)
        return .milliseconds(Int64.random(in: 100...1_500, using: &dice))
    }

    /// The clients of a round; each has a user of its own, whose purchases the next one claims too.
    func clients(_ round: Int, _ journal: Journal, adminKey: String, port: UInt16) -> [Client] {
        (0..<clients).map { number in
            Client(
                journal, user: "r\(round)-c\(number)", rival: "r\(round)-c\((number + 1) % clients)",
                adminKey: adminKey, port: port, dice: Dice(seed, round, number))
        }
    }
}
