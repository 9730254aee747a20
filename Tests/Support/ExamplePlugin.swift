import Foundation

/// A plugin of `Examples/RemotePlugin`, in a process of its own.
package struct ExamplePlugin: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package enum Language: String, CaseIterable, Sendable {
        case python, swift
    }

    /// The settings that a test may change.
    package struct Setup: Sendable {
        package var secrets = [ExamplePlugin.secret]
        package var rehearses = true
        /// The port to listen on; nil lets the kernel choose.
        package var port: UInt16?
        /// The parts of the script that are replaced; each text must occur in it once.
        package var flaws: [(text: String, by: String)] = []

        package init() {}
    }

    package static let secret = "whsec_" + Data(repeating: 0x2A, count: 32).base64EncodedString()
    package static let otherSecret = "whsec_" + Data(repeating: 0x2B, count: 32).base64EncodedString()

    package let port: UInt16
    package let program: SpawnedProgram
    private let folder: URL

    package var url: String { "http://127.0.0.1:\(port)" }

    /// - Throws: ``MissingProgram`` where there is no Python.
    package static func start(_ language: Language, _ setup: Setup = Setup()) async throws -> ExamplePlugin {
        let folder = FileManager.default.temporaryDirectory.appending(path: "plugin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let port = try setup.port ?? FreePort.next()
        let command =
            switch language {
            case .python: ["/usr/bin/env", "python3", try script(in: folder, setup.flaws)]
            case .swift: [try built()]
            }
        let environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            "PLUGIN_SECRETS": setup.secrets.joined(separator: ","),
        ]
        let program = try SpawnedProgram(
            command + ["\(port)"] + (setup.rehearses ? ["--rehearsal"] : []), in: folder.path, name: "plugin",
            environment: environment)
        for _ in 0..<1_000 {
            if program.output == "ready\n" { return ExamplePlugin(port: port, program: program, folder: folder) }
            if program.ended() != nil { break }
            await SpawnedProgram.pause()
        }
        if language == .python, program.errors.contains("No such file or directory") {
            throw MissingProgram("python3")
        }
        program.send(SIGKILL)
        throw Failure(description: "the plugin is not ready: \(program.errors)")
    }

    package func stop() {
        program.send(SIGKILL)
        try? FileManager.default.removeItem(at: folder)
    }

    private static var examples: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Examples/RemotePlugin")
    }

    private static func script(in folder: URL, _ flaws: [(text: String, by: String)]) throws -> String {
        let original = examples.appending(path: "python/plugin.py")
        guard !flaws.isEmpty else { return original.path }
        var text = try String(contentsOf: original, encoding: .utf8)
        for flaw in flaws {
            guard text.components(separatedBy: flaw.text).count == 2 else {
                throw Failure(description: "not once in plugin.py: \(flaw.text)")
            }
            text = text.replacing(flaw.text, with: flaw.by)
        }
        let file = folder.appending(path: "plugin.py")
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    /// The path of the program beside the test bundle.
    private static func built() throws -> String {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        for _ in 0..<5 {
            folder.deleteLastPathComponent()
            let candidate = folder.appending(path: "remote-plugin-example").path
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        }
        throw Failure(description: "no remote-plugin-example beside \(CommandLine.arguments[0])")
    }
}
