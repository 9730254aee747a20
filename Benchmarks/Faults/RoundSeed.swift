/// The seed of a round, from which the acts of its clients and the time and kind of the fault follow.
struct RoundSeed: Sendable, CustomStringConvertible {
    let seed: UInt64
    /// The fault's name as a number.
    let fault: Int
    let number: Int
    /// True for the last round of this fault on this database.
    var isLast = false

    init(_ seed: UInt64, _ fault: String, _ number: Int, isLast: Bool = false) {
        self.isLast = isLast
        self.seed = seed
        self.fault = fault.utf8.reduce(0) { ($0 * 31 + Int($1)) % 1_000_003 }
        self.number = number
    }

    var description: String { "round \(number)" }

    var dice: Dice { Dice(seed, fault, number) }

    /// The round's clients, spread over the nodes.
    ///
    /// Each has a user of its own, and also tries to claim the purchases of the next client's user.
    func clients(
        _ count: Int, round: Int, _ journal: Journal, _ service: PaymentService, adminKey: String, ports: [UInt16]
    ) -> [Client] {
        (0..<count).map { index in
            Client(
                journal, service, user: "r\(round)-c\(index)", rival: "r\(round)-c\((index + 1) % count)",
                adminKey: adminKey,
                port: ports[index % ports.count], dice: Dice(seed, fault, number, index))
        }
    }
}
