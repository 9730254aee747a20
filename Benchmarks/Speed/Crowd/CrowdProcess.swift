import ArgumentParser
import Foundation
import TestSupport

/// The crowd as a program of its own, so that its work does not slow the measuring client.
struct CrowdProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crowd", abstract: "Holds connections to a server until it is asked to end.")

    @Option(help: "The port of 127.0.0.1.") var port: UInt16
    @Option(help: "Connections that send nothing.") var idle: Int
    @Option(help: "Connections that send a byte a second.") var dribbling: Int

    func run() async throws {
        let crowd = Crowd(port: port)
        try await crowd.gather(idle: idle, dribbling: dribbling)
        // Prints the number of connections each second, until SIGTERM ends this process or its parent is gone.
        let parent = getppid()
        while getppid() == parent {
            FileHandle.standardOutput.write(Data("\(crowd.connections)\n".utf8))
            try await Task.sleep(for: .seconds(1))
        }
        try await crowd.leave()
    }
}

/// A crowd that this run started.
struct CrowdProcess: Sendable {
    private let program: SpawnedProgram

    /// Starts the crowd's process and returns when all its connections are open.
    ///
    /// The process runs with the lowest priority, so that it works only while the cores are free.
    static func gather(idle: Int, dribbling: Int, port: UInt16, _ bench: Workbench) async throws -> CrowdProcess {
        let command = [
            "nice", "-n", "19", Workbench.bench, "crowd", "--port", "\(port)", "--idle", "\(idle)", "--dribbling",
            "\(dribbling)",
        ]
        let crowd = CrowdProcess(program: try Workbench.spawn(command, in: bench.folder, name: "crowd"))
        for _ in 0..<6_000 {
            if crowd.program.output.contains("\n") { return crowd }
            if let status = crowd.program.ended() {
                throw BenchFailure(description: "the crowd ended with \(status): \(crowd.program.errors)")
            }
            await SpawnedProgram.pause()
        }
        crowd.program.send(SIGKILL)
        throw BenchFailure(description: "the crowd does not gather in two minutes")
    }

    /// The number of open connections, as printed in the last second.
    var connections: Int { lines.last.flatMap { Int($0) } ?? 0 }

    private var lines: [Substring] { program.output.split(separator: "\n") }

    func leave() async throws {
        program.send(SIGTERM)
        _ = try await program.wait()
    }
}
