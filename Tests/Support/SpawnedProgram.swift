package import Foundation

/// A program, started in a folder, whose output goes to files.
package final class SpawnedProgram: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The variables that a program built with a sanitizer needs, taken from the tests' own environment (`make
    /// sanitize`).
    private static let sanitizing = ProcessInfo.processInfo.environment.filter {
        ["TSAN_OPTIONS", "ASAN_OPTIONS", "LD_PRELOAD"].contains($0.key)
    }

    package let pid: pid_t
    private let folder: String
    private let name: String

    /// - Parameter environment: all variables of the program, except those for a sanitizer.
    package init(_ command: [String], in folder: String, name: String, environment: [String: String]) throws {
        self.folder = folder
        self.name = name
        let arguments = InheritNothing.command(command, in: folder).map { strdup($0) } + [nil]
        let variables =
            environment.merging(Self.sanitizing) { given, _ in given }
            .map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (descriptor, suffix) in [(Int32(1), "out"), (2, "err")] {
            posix_spawn_file_actions_addopen(
                &actions, descriptor, "\(folder)/\(name).\(suffix)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        // Swift's pool threads block signals, and a child inherits the blocked signals of the thread that starts it.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pid: pid_t = 0
        let code = posix_spawn(&pid, InheritNothing.shell, &actions, &attributes, arguments, variables)
        guard code == 0 else { throw Failure(description: "cannot start \(command[0]): error \(code)") }
        self.pid = pid
    }

    package var output: String { text("out") }
    package var errors: String { text("err") }

    package func send(_ signal: Int32) { kill(pid, signal) }

    /// Waits for the program's end; a program that does not end in time is killed.
    ///
    /// - Parameter minutes: the longest wait.
    /// - Returns: the exit status, or minus the number of the signal that ended it.
    /// - Throws: where the program did not end in time.
    package func wait(minutes: Int = 1) async throws -> Int32 {
        for _ in 0..<minutes * 3_000 {
            if let status = ended() { return status }
            await Self.pause()
        }
        send(SIGKILL)
        throw Failure(description: "\(name) did not end: \(output) \(errors)")
    }

    /// The exit status, or minus the number of a signal; nil while the program runs.
    ///
    /// The status is given once: later calls return nil.
    package func ended() -> Int32? {
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// Waits 20 ms off Swift's cooperative pool.
    package static func pause() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                _ = poll(nil, 0, 20)
                continuation.resume()
            }
        }
    }

    private func text(_ suffix: String) -> String {
        (try? String(contentsOfFile: "\(folder)/\(name).\(suffix)", encoding: .utf8)) ?? ""
    }
}
