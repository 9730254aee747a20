import Foundation
import TestSupport

/// The folder, the programs and the amounts of one run.
struct Workbench: Sendable {
    let folder: String
    let paydesk: String
    let attaches: Int
    let seconds: Int
    let grants: Int
    let events: Int
    let profile: String?

    /// The number of clients in the measurements that have an aim.
    static let manyClients = 64

    init(
        folder: String, program: String?, attaches: Int, seconds: Int, grants: Int, events: Int, profile: String?
    ) throws {
        let own = "\(folder)/paydesk-bench-\(getpid())"
        let paydesk = program ?? Self.program(beside: "paydesk")
        guard FileManager.default.isExecutableFile(atPath: paydesk) else {
            throw BenchFailure(description: "there is no program \(paydesk); build it first or name it with --paydesk")
        }
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        self.folder = own
        self.paydesk = URL(fileURLWithPath: paydesk).path
        self.attaches = attaches
        self.seconds = seconds
        self.grants = grants
        self.events = events
        self.profile = profile.map { URL(fileURLWithPath: $0).path }
    }

    /// The path of this program, which also serves as the empty server.
    static var bench: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }

    private static func program(beside name: String) -> String {
        URL(fileURLWithPath: bench).deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// The file for the `perf` recording of a section; nil where no recording is wanted.
    func recording(_ section: Section, _ engine: Engine) -> String? {
        profile.map { "\($0)/\(section.rawValue)-\(engine.rawValue).perf" }
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// A new folder in this run's folder.
    func makeFolder(_ name: String) throws -> String {
        let path = "\(folder)/\(name)-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// Runs a program to its end.
    ///
    /// - Parameter place: the folder to run in; this run's folder where it is nil.
    /// - Throws: where the program fails.
    @discardableResult
    func run(_ command: [String], name: String, in place: String? = nil) async throws -> String {
        let program = try Self.spawn(command, in: place ?? folder, name: name)
        let status = try await program.wait()
        guard status == 0 else {
            throw BenchFailure(description: "\(command[0]) ended with \(status): \(program.errors)")
        }
        return program.output
    }

    /// Starts a program that gets every signal.
    ///
    /// The threads that run Swift's tasks block signals, and a program inherits the blocked signals of the thread that
    /// starts it. Without this, `openssl speed` would not get its alarm.
    static func spawn(_ command: [String], in folder: String, name: String) throws -> SpawnedProgram {
        var (none, blocked) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &blocked)
        defer { pthread_sigmask(SIG_SETMASK, &blocked, nil) }
        return try SpawnedProgram(
            command, in: folder, name: name,
            environment: ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "TMPDIR": folder])
    }

    /// The time of a durable write of one page in this run's folder, as a sentence.
    func durability() async throws -> String {
        let isMemory = try await run(["stat", "-f", "-c", "%T", folder], name: "stat").hasPrefix("tmpfs")
        let path = "\(folder)/durability"
        let file = open(path, O_CREAT | O_WRONLY, 0o600)
        guard file >= 0 else { throw BenchFailure(description: "cannot write in \(folder)") }
        defer {
            close(file)
            unlink(path)
        }
        let page = [UInt8](repeating: 1, count: 4_096)
        let rounds = 200
        let started = ContinuousClock.now
        for _ in 0..<rounds {
            guard write(file, page, page.count) == page.count, fdatasync(file) == 0 else {
                throw BenchFailure(description: "cannot write durably in \(folder)")
            }
        }
        let each = (ContinuousClock.now - started).seconds / Double(rounds)
        let place = isMemory ? "in MEMORY, so nothing here is durable" : "on a disk"
        return "Databases are \(place); a 4 KiB write with fdatasync takes \(Int(each * 1_000_000)) µs."
    }
}
