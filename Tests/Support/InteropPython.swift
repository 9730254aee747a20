package import Foundation

/// The error of a test that needs a program which is not installed.
package struct MissingProgram: Error, CustomStringConvertible {
    package let description: String

    package init(_ program: String) {
        description = "\(program) is missing: `make packages-test` installs what the tests need"
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
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let installed = root.appending(path: ".build-interop/bin/python").path
        return FileManager.default.isExecutableFile(atPath: installed) ? installed : "python3"
    }()

    private let folder: URL
    private let peer: String

    /// - Parameters:
    ///   - peer: the library that the scripts need.
    ///   - file: the path of the calling test, beside which the folder `Interop` is.
    package init(peer: String, file: String = #filePath) {
        self.peer = peer
        folder = URL(filePath: file).deletingLastPathComponent().appending(path: "Interop")
    }

    /// The path of a script.
    package func path(_ script: String) -> String { folder.appending(path: script).path }

    /// Runs a script and returns its output.
    ///
    /// - Throws: ``MissingProgram`` where the interpreter or its library is missing, for which a script exits with 3;
    ///   ``Failure`` with the script's stderr where it fails.
    package func run(_ script: String, _ arguments: [String] = [], input: Data = Data()) async throws -> String {
        let place = FileManager.default.temporaryDirectory.appending(path: "interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let files = ["in", "out", "err"].map { place.appending(path: $0) }
        try input.write(to: files[0])
        for file in files.dropFirst() { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [Self.interpreter, path(script)] + arguments
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
        switch process.terminationStatus {
        case 0: return try String(contentsOf: files[1], encoding: .utf8)
        case 3, 127: throw MissingProgram("\(peer) for \(Self.interpreter)")
        default: throw Failure(description: "\(script): \(try String(contentsOf: files[2], encoding: .utf8))")
        }
    }

    /// Runs a script and returns the lines of its output.
    package func lines(_ script: String, _ arguments: [String] = [], input: Data = Data()) async throws -> [String] {
        try await run(script, arguments, input: input).split(separator: "\n").map(String.init)
    }
}
