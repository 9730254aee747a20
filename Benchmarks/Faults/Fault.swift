import TestSupport

/// The objects that a fault may act on while clients are at work.
struct Target: Sendable {
    let place: Place
    let servers: [Server]
    let shim: Shim
    let journal: Journal
}

/// The state in which a fault left the servers.
enum Aftermath: Sendable {
    /// The first server is dead; no client may lose its connection before that time.
    case dead(since: ContinuousClock.Instant)
    /// All servers run and the fault is over; `recovery` is the time until they served again.
    ///
    /// - keepsConnections: false where requests waited longer than a connection may be silent.
    case alive(recovery: Duration?, keepsConnections: Bool = true)
}

/// A kind of round.
protocol Scenario: Sendable {
    static var name: String { get }
    static var engines: [TestEngine] { get }
    /// The reason why it cannot run on this machine; nil where it can.
    var obstacle: String? { get }
    /// True where rounds move business time, in which no other scenario could run beside it on its database.
    var movesClock: Bool { get }
    /// True where each round strikes something of its own, so that a brief plan leaves no round out.
    var keepsRounds: Bool { get }

    /// - Returns: false when something is missing that clients were told.
    func run(_ bench: Bench, _ seed: RoundSeed) async throws -> Bool
}

/// A way to disturb the servers under load, once in every round.
protocol Fault: Scenario {
    /// The number of servers that share the database.
    var nodes: Int { get }
    /// The number of servers, the first ones, that get requests and are waited for.
    var servingNodes: Int { get }
    /// The number of rounds after which the answers to clients are compared with the database.
    var comparedEvery: Int { get }

    /// The environment with which each server is started; the shim is set up here, too.
    func environment(_ place: Place, _ shim: Shim, node: Int) -> [String: String]

    /// Disturbs the servers while clients are at work, and returns when the clients may stop.
    ///
    /// - Parameter notes: counts for the summary, by name.
    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath
}

extension Scenario {
    static var engines: [TestEngine] { [.sqlite, .postgres] }
    var obstacle: String? { nil }
    var movesClock: Bool { false }
    var keepsRounds: Bool { false }
}

extension Fault {
    var nodes: Int { 1 }
    var servingNodes: Int { nodes }
    var comparedEvery: Int { 1 }
    func environment(_ place: Place, _ shim: Shim, node: Int) -> [String: String] { [:] }
    func run(_ bench: Bench, _ seed: RoundSeed) async throws -> Bool { try await bench.run(self, seed) }
}

/// The number of events by name, for the summary.
typealias Notes = [String: Int]

extension Duration {
    static func random(_ milliseconds: ClosedRange<Int64>, _ dice: inout Dice) -> Duration {
        .milliseconds(Int64.random(in: milliseconds, using: &dice))
    }
}
