import ArgumentParser

/// `paydesk-bench`: how fast Paydesk is, as ratios to what the same machine can do.
@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "paydesk-bench", abstract: "Measures Paydesk's speed as ratios.",
        subcommands: [Measure.self, EmptyServer.self, RelayServer.self, CrowdProgram.self],
        defaultSubcommand: Measure.self)
}

/// The reason why a measurement could not be made.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String
}
