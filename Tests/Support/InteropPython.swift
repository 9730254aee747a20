package import Foundation

/// Runs a script of the repository by an interpreter that may have the libraries that it needs.
package struct InteropPython: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let interpreter: String
    private let folder: URL
    private let peer: String

    /// - Parameters:
    ///   - variable: names the interpreter; without it `python3` is tried.
    ///   - peer: what the scripts need, in words.
    ///   - file: the calling test's, beside which the folder `Interop` is.
    package init(variable: String, peer: String, file: String = #filePath) {
        interpreter = ProcessInfo.processInfo.environment[variable] ?? "python3"
        self.peer = peer
        folder = URL(filePath: file).deletingLastPathComponent().appending(path: "Interop")
    }

    /// A script's output.
    ///
    /// - Returns: nil where no interpreter has the libraries, which a line says.
    /// - Throws: what it wrote to stderr where it failed.
    package func run(_ script: String, _ arguments: [String] = [], input: Data = Data()) async throws -> String? {
        let place = FileManager.default.temporaryDirectory.appending(path: "interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let files = ["in", "out", "err"].map { place.appending(path: $0) }
        try input.write(to: files[0])
        for file in files.dropFirst() { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [interpreter, folder.appending(path: script).path] + arguments
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
        case 3, 127:
            print("SKIPPED: interop with \(peer) (\(script)): no python3 that has it")
            return nil
        default:
            throw Failure(description: "\(script): \(try String(contentsOf: files[2], encoding: .utf8))")
        }
    }
}
