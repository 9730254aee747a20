import ArgumentParser
import Foundation
import TestSupport

/// Disturbs the server under load in many ways, and compares what clients were told with the database.
@main
struct FaultTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "paydesk-faults",
        abstract: "Injects faults into a server under load, and compares its answers with the stored data.",
        discussion: """
            Faults: \(Plan.names.joined(separator: ", ")).

            Exit codes: 0: everything that was confirmed to clients is stored; 1: something is not (with --lose: every loss \
            was reported); 2: the test itself could not run; 3: with --lose, a loss was not reported.
            """)

    @Option(help: "Runs only these faults, separated by commas.") var only = ""
    @Option(help: "The database: sqlite, postgres or both.") var engine = EngineChoice.both
    @Option(help: "The seed of the clients' calls and of the faults' times and kinds. Default: a random one.")
    var seed: UInt64?
    @Option(help: "The number of rounds of each fault, instead of the plan's.") var rounds: Int?
    @Flag(help: "Runs the plan that takes hours instead of the one that takes minutes.") var long = false
    @Flag(
        help: "Runs a third of the rounds and a quarter of the kills before writes, for a check of many other things.")
    var brief = false
    @Option(help: "The server to test.") var binary = ".build/release/paydesk"
    @Option(help: "The number of concurrent clients.") var clients = 24
    @Option(help: "The folder for the servers' configuration, database and output.") var folder = ".build/faults"
    @Option(help: "The source of the library that is preloaded into the server.")
    var shim = "Benchmarks/Faults/Shim/shim.c"
    @Flag(help: "Tests this test: deletes confirmed data, and exits with 1 when every loss is reported.")
    var lose = false

    @Flag(help: "Tests this test: in the power cuts fsync writes nothing, and the losses must be reported (exit 1).")
    var lies = false

    private var names: Set<String> { Set(only.split(separator: ",").map(String.init)) }

    func validate() throws {
        guard rounds.map({ $0 > 0 }) ?? true, (2...200).contains(clients) else {
            throw ValidationError("--rounds must be positive, and --clients 2 to 200.")
        }
        guard !(brief && long) else { throw ValidationError("--brief and --long are two plans.") }
        if let unknown = names.subtracting(Plan.names).min() { throw ValidationError("There is no fault \(unknown).") }
    }

    func run() async throws {
        let seed = seed ?? UInt64.random(in: 1...999_999_999)
        let options = [
            "--seed \(seed)", "--engine \(engine)", only.isEmpty ? nil : "--only \(only)",
            rounds.map { "--rounds \($0)" }, long ? "--long" : nil, brief ? "--brief" : nil, lose ? "--lose" : nil,
            lies ? "--lies" : nil, clients == 24 ? nil : "--clients \(clients)",
        ]
        let repetition = "seed \(seed); again: paydesk-faults \(options.compactMap(\.self).joined(separator: " "))"
        say(repetition)
        do {
            if lose { throw ExitCode(try await everyLossIsReported(seed) ? 1 : 3) }
            let plan = Plan(
                seed: seed, length: long ? .long : brief ? .brief : .short, engines: engine.engines, only: names,
                rounds: rounds, lies: lies)
            if try await !run(plan) { throw ExitCode(1) }
        } catch {
            if !(error is ExitCode) { say("the test cannot run: \(error)") }
            say(repetition)
            throw error as? ExitCode ?? ExitCode(2)
        }
    }

    /// Runs all lanes of both engines concurrently.
    private func run(_ plan: Plan) async throws -> Bool {
        var summary = Summary()
        try await withThrowingTaskGroup(of: Summary.self) { group in
            for (index, engine) in engine.engines.enumerated() {
                for (lane, parts) in plan.lanes(engine).enumerated() {
                    group.addTask {
                        try await run(parts, engine, seed: plan.seed, firstPlace: index * 1_000 + lane * 100)
                    }
                }
            }
            for try await part in group {
                for row in part.rows { summary.add(row) }
            }
        }
        summary.show()
        // The time of a start is meaningful only on a machine without other load.
        guard long, !summary.isInTime else { return summary.isClean }
        say("the service was not back within 2 s after every fault")
        return false
    }

    private func run(
        _ parts: [[Plan.Step]], _ engine: TestEngine, seed: UInt64, firstPlace: Int
    ) async throws -> Summary {
        var summary = Summary()
        for (index, part) in parts.enumerated() {
            let small =
                part.contains { $0.fault is DiskFullFault && $0.fault.obstacle == nil } ? folder + "/small" : nil
            if let small { try await SmallDisk.mount(Place.absolute(small)) }
            let bench = try await bench(
                engine, number: firstPlace + index, in: small ?? folder,
                movesClock: part.contains { $0.fault.movesClock })
            var isClean = true
            for step in part where isClean {
                if let obstacle = step.fault.obstacle {
                    say("\(engine) \(step.name): SKIPPED, \(obstacle)")
                    continue
                }
                let last = step.first + step.rounds - 1
                for number in step.first...last where isClean {
                    let seed = RoundSeed(seed, step.name, number, isLast: number == last)
                    isClean = try await step.fault.run(bench, seed)
                }
                say("\(Self.clock()) \(engine) \(step.name): to round \(last)")
            }
            if isClean { isClean = try await bench.finish() } else { try await bench.stop() }
            if let small { try await SmallDisk.unmount(Place.absolute(small)) }
            for row in bench.summary.rows { summary.add(row) }
            // A long run that is ended early has shown its findings up to then.
            for row in bench.summary.rows { say(row.line) }
            if !isClean { break }
        }
        return summary
    }

    private func bench(
        _ engine: TestEngine, number: Int, in folder: String, movesClock: Bool = false
    ) async throws -> Bench {
        try await Bench(
            try Place(engine, folder: folder, number: number), binary: Place.absolute(binary), clients: clients,
            shimSource: shim, movesClock: movesClock)
    }

    private static func clock() -> String { Date().formatted(.iso8601.time(includingFractionalSeconds: false)) }

    private func everyLossIsReported(_ seed: UInt64) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for (index, engine) in engine.engines.enumerated() {
                group.addTask {
                    try await bench(engine, number: index, in: folder).lose(rounds: rounds ?? 2, seed: seed)
                }
                group.addTask {
                    try await bench(engine, number: 100 + index, in: folder, movesClock: true).loseRenewals()
                }
            }
            return try await group.reduce(true) { $0 && $1 }
        }
    }
}
