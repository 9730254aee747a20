import TestSupport

/// What a fault may touch while clients are at work.
struct Target: Sendable {
    let place: Place
    let servers: [Server]
    let shim: Shim
    let journal: Journal
}

/// How a fault left the servers.
enum Aftermath: Sendable {
    /// The first server is dead; nobody may lose a connection before that.
    case dead(since: ContinuousClock.Instant)
    /// All servers live, whatever was wrong is over, and so long after that they served again.
    ///
    /// - keepsConnections: false where requests waited for longer than a connection may be silent.
    case alive(recovery: Duration?, keepsConnections: Bool = true)
}

/// What rounds are made of.
protocol Scenario: Sendable {
    static var name: String { get }
    static var engines: [TestEngine] { get }
    /// The reason why it cannot run on this machine; nil where it can.
    var obstacle: String? { get }

    /// - Returns: false when something that clients were told is not there.
    func run(_ bench: Bench, _ seed: RoundSeed) async throws -> Bool
}

/// A way to hurt the servers under load, once in every round.
protocol Fault: Scenario {
    /// The number of servers that share the database.
    var nodes: Int { get }
    /// So many of them get requests and are waited for, the first ones.
    var servingNodes: Int { get }
    /// After so many rounds what clients were told is compared with what is there.
    var comparedEvery: Int { get }

    /// What each server is started with; the shim is told here what it should do from the start.
    func environment(_ place: Place, _ shim: Shim, node: Int) -> [String: String]

    /// Hurts them while clients are at work, and returns when the clients may stop.
    ///
    /// - Parameter notes: what the summary counts, by name.
    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath
}

extension Scenario {
    static var engines: [TestEngine] { [.sqlite, .postgres] }
    var obstacle: String? { nil }
}

extension Fault {
    var nodes: Int { 1 }
    var servingNodes: Int { nodes }
    var comparedEvery: Int { 1 }
    func environment(_ place: Place, _ shim: Shim, node: Int) -> [String: String] { [:] }
    func run(_ bench: Bench, _ seed: RoundSeed) async throws -> Bool { try await bench.run(self, seed) }
}

/// What happened, by name and how often.
typealias Notes = [String: Int]

extension Duration {
    static func random(_ milliseconds: ClosedRange<Int64>, _ dice: inout Dice) -> Duration {
        .milliseconds(Int64.random(in: milliseconds, using: &dice))
    }
}
