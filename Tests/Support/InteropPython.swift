package import Foundation

/// The error of a test that needs a program which is not installed.
package struct MissingProgram: Error, CustomStringConvertible {
    package let description: String

    /// - Parameter errors: what was said about it, such as the import that failed.
    package init(_ program: String, _ errors: String = "") {
        let reason = errors.isEmpty ? "" : "\n\(errors)"
        description = "\(program) is missing: `make packages-test` installs what the tests need\(reason)"
    }
}

/// Runs Python scripts of the repository against other people's libraries, which `Tests/Scripts/interop.sh` installs.
package struct InteropPython: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The path of the interpreter that has the libraries of `Tests/Scripts/interop-requirements.txt`:
    /// `INTEROP_PYTHON`, else the one in the repository's own environment, else `python3`.
    package static let interpreter: String = {
        if let named = ProcessInfo.processInfo.environment["INTEROP_PYTHON"] { return named }
        let installed = root.appending(path: ".build-interop/bin/python").path
        return FileManager.default.isExecutableFile(atPath: installed) ? installed : "python3"
    }()

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private let folder: URL
    private let peer: String

    /// - Parameters:
    ///   - peer: the library that the scripts need.
    ///   - file: the path of the calling test, beside which the folder `Interop` is.
    package init(peer: String, file: String = #filePath) {
        self.peer = peer
        folder = URL(filePath: file).deletingLastPathComponent().appending(path: "Interop")
    }

    /// The command that runs a script; it exits with 3 where an import fails, and names the import on stderr.
    package func command(_ script: String, _ arguments: [String] = []) -> [String] {
        let runner = Self.root.appending(path: "Tests/Scripts/interop.py").path
        return ["/usr/bin/env", Self.interpreter, runner, folder.appending(path: script).path] + arguments
    }

    /// The exit statuses of a missing library, by `Tests/Scripts/interop.py`, and of a missing interpreter, by `env`.
    private static let missing: Set<Int32> = [3, 127]

    /// Runs a script and returns its output.
    ///
    /// - Throws: ``MissingProgram`` where the interpreter or a library is missing, ``Failure`` where the script fails;
    ///   both with its stderr.
    package func run(_ script: String, _ arguments: [String] = [], input: Data = Data()) async throws -> String {
        let place = FileManager.default.temporaryDirectory.appending(path: "interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let files = ["in", "out", "err"].map { place.appending(path: $0) }
        try input.write(to: files[0])
        for file in files.dropFirst() { try Data().write(to: file) }
        let process = Process()
        let command = command(script, arguments)
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                process.waitUntilExit()
                continuation.resume()
            }
        }
        let status = process.terminationStatus
        if status == 0 { return try String(contentsOf: files[1], encoding: .utf8) }
        let errors = try String(contentsOf: files[2], encoding: .utf8)
        throw Self.missing.contains(status)
            ? MissingProgram("\(peer) for \(Self.interpreter)", errors) as any Error
            : Failure(description: "\(script): \(errors)")
    }

    /// Runs a script and returns the lines of its output.
    package func lines(_ script: String, _ arguments: [String] = [], input: Data = Data()) async throws -> [String] {
        try await run(script, arguments, input: input).split(separator: "\n").map(String.init)
    }
}
