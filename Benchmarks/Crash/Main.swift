import ArgumentParser
import Foundation

/// Kills the server under load again and again, and compares what clients were told with what is there.
@main
struct CrashTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "paydesk-crash",
        abstract: "Kills `paydesk serve` under load and compares what clients were told with what is there.",
        discussion: """
            Exit codes: 0 everything that clients were told is there; 1 something is not (with --lose: every loss was \
            reported); 2 the test itself could not run; 3 with --lose, a loss was not reported.
            """)

    @Option(help: "How often the server is killed on each engine.") var rounds = 50
    @Option(help: "sqlite, postgres or both.") var engine = EngineChoice.both
    @Option(help: "Decides what clients do and when the server is killed; a random one where it is left out.")
    var seed: UInt64?
    @Option(help: "The server to kill.") var binary = ".build/release/paydesk"
    @Option(help: "Clients at once.") var clients = 24
    @Option(help: "Where configuration, database and output of the server are kept.") var folder = ".build/crash"
    @Flag(help: "Tests this test: takes away what clients were told, and exits with 1 when all of it is reported.")
    var lose = false

    func validate() throws {
        guard rounds > 0, (2...200).contains(clients) else {
            throw ValidationError("--rounds must be positive, and --clients 2 to 200.")
        }
    }

    func run() async throws {
        let seed = seed ?? UInt64.random(in: 1...999_999_999)
        say("seed \(seed)")
        var clean = true
        do {
            for engine in engine.engines {
                let place = try Place(engine, folder: folder)
                let bench = try await Bench(
                    place, binary: Place.absolute(binary), plan: RoundPlan(seed: seed, clients: clients))
                let isClean = lose ? try await bench.lose(rounds: rounds) : try await bench.run(rounds: rounds)
                clean = clean && isClean
            }
        } catch {
            say("the test cannot run: \(error)")
            throw ExitCode(2)
        }
        if lose { throw ExitCode(clean ? 1 : 3) }
        if !clean { throw ExitCode(1) }
    }
}
