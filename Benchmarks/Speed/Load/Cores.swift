import Foundation

/// Places the server and the client on different cores where there are two, so that load does not take the server's
/// time.
enum Cores {
    static var isDivided: Bool { ProcessInfo.processInfo.activeProcessorCount >= 2 }

    /// The command that runs a server on the first core alone.
    static func first(_ command: [String]) -> [String] { isDivided ? ["taskset", "-c", "0"] + command : command }

    /// Moves this process, with all its threads, to the second core while the body runs.
    static func onSecond<T>(_ bench: Workbench, _ body: () async throws -> T) async throws -> T {
        guard isDivided else { return try await body() }
        let all = "0-\(ProcessInfo.processInfo.activeProcessorCount - 1)"
        try await pin("1", bench)
        let result: Result<T, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try await pin(all, bench)
        return try result.get()
    }

    private static func pin(_ cores: String, _ bench: Workbench) async throws {
        try await bench.run(["taskset", "-a", "-c", "-p", cores, String(getpid())], name: "taskset")
    }
}
