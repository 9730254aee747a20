import Foundation
import TestSupport

/// A server that this run has started, and stops whatever happens.
struct ServerProcess: Sendable {
    let port: UInt16
    let folder: String
    private let program: SpawnedProgram
    private let name: String

    var pid: pid_t { program.pid }

    /// Starts a server and returns once `ready` is answered with 200.
    ///
    /// If this process ends without a stop, even by a kill, a second process kills the server and removes its folder
    /// within a second.
    static func start(
        _ command: [String], port: UInt16, in folder: String, name: String, ready: String
    ) async throws -> ServerProcess {
        let program = try Workbench.spawn(command, in: folder, name: name)
        let server = ServerProcess(port: port, folder: folder, program: program, name: name)
        _ = try Workbench.spawn(
            ["/bin/sh", "-c", watch, "sh", String(getpid()), String(program.pid), folder], in: folder,
            name: "\(name)-watch")
        for _ in 0..<3_000 {
            if await LoopbackHTTP.send("GET", ready, port: port)?.status == 200 { return server }
            if let status = program.ended() {
                throw BenchFailure(description: "\(name) ended with \(status): \(program.errors)")
            }
            await SpawnedProgram.pause()
        }
        program.send(SIGKILL)
        throw BenchFailure(description: "\(name) is not ready after a minute: \(program.errors)")
    }

    /// Starts the framework's empty server (``EmptyServer``).
    static func startEmpty(_ bench: Workbench) async throws -> ServerProcess {
        let port = try FreePort.next()
        return try await start(
            [Workbench.bench, "empty", "--port", String(port)], port: port, in: try bench.makeFolder("empty"),
            name: "empty", ready: "/")
    }

    private static let watch = """
        while kill -0 "$1"; do kill -0 "$2" || exit 0; sleep 1; done; kill -9 "$2"; rm -rf "$3"
        """

    /// Asks the server to stop and waits for its end.
    func stop() async throws {
        program.send(SIGTERM)
        let status = try await program.wait()
        guard status == 0 else { throw BenchFailure(description: "\(name) ended with \(status): \(program.errors)") }
    }

    /// Runs the body and stops the server, whatever the body throws.
    func whileRunning<T>(_ body: (ServerProcess) async throws -> T) async throws -> T {
        let result: Result<T, any Error>
        do { result = .success(try await body(self)) } catch { result = .failure(error) }
        do { try await stop() } catch  where (try? result.get()) == nil {}
        return try result.get()
    }

    /// Waits until the server has finished its background work, such as the seals of an audit that was copied in.
    func settle() async throws {
        for _ in 0..<600 {
            let before = try CPUTime.of(pid)
            try await Task.sleep(for: .seconds(1))
            if try CPUTime.of(pid) - before < 0.03 { return }
        }
        throw BenchFailure(description: "\(name) is still busy after ten minutes without a request")
    }

    /// Sends the plan's requests and measures their cost.
    func measure(_ plan: LoadPlan) async throws -> Measurement {
        let (before, started) = (try CPUTime.of(pid), ContinuousClock.now)
        let answers = try await LoadClient.run(plan, port: port)
        return Measurement(
            answers: answers, wallSeconds: (ContinuousClock.now - started).seconds,
            cpuSeconds: try CPUTime.of(pid) - before)
    }

    /// Sends the plan's requests while `perf` records this server; recording slows it, so nothing is measured.
    ///
    /// Stacks are copied and unwound by their debug information, because SQLite and the C library keep no frame
    /// pointers.
    func record(_ plan: LoadPlan, into file: String) async throws {
        let command = [
            "perf", "record", "-q", "-F", "499", "--call-graph", "dwarf,16384", "-p", String(pid), "-o", file,
        ]
        let recorder = try Workbench.spawn(command, in: folder, name: "\(name)-perf")
        _ = try await LoadClient.run(plan, port: port)
        recorder.send(SIGINT)
        _ = try await recorder.wait()
        guard FileManager.default.fileExists(atPath: file) else {
            throw BenchFailure(description: "perf recorded nothing: \(recorder.errors)")
        }
    }
}
