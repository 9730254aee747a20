import ArgumentParser

/// `paydesk-bench`: measures the speed of Paydesk as ratios to the capacity of the same machine.
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
