import Foundation
package import Store

/// A throwaway PostgreSQL server of the test process, on a free loopback port.
///
/// The server starts when a test first asks for it. A watcher process holds the reading end of a pipe whose writing end
/// this process has. When this process ends, in whatever way, the pipe closes, and the watcher stops the server and
/// removes its folder.
package struct PostgresCluster: Sendable {
    package let port: UInt16
    private let programs: String
    private let folder: String

    /// The only cluster of this process, or the error of its start.
    private static let shared = Result { try PostgresCluster() }

    package static func running() throws -> PostgresCluster { try shared.get() }

    /// The schema with the functions that replace PostgreSQL's own in a test's database.
    static let schema = "paydesk_test"

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The address of a database of this cluster; `port` may be that of a proxy before it.
    package func url(database: String, port: UInt16? = nil) throws -> DatabaseURL {
        let server = "paydesk@127.0.0.1:\(port ?? self.port)"
        return try DatabaseURL("postgres://\(server)/\(database)?sslmode=disable&gssencmode=disable")
    }

    package func address(database: String, port: UInt16? = nil) throws -> PostgresAddress {
        guard case .postgres(let address) = try url(database: database, port: port) else {
            throw Failure(description: "not a postgres:// URL")
        }
        return address
    }

    /// Runs a statement that cannot run in a transaction, such as CREATE DATABASE.
    @discardableResult
    package func administer(_ sql: String) throws -> [Row] {
        let connection = try PostgresConnection(
            try address(database: "postgres"), settings: Self.patient, by: .now + .seconds(30))
        return try connection.run(sql)
    }

    private static var patient: PostgresSettings {
        var settings = PostgresSettings()
        settings.statementTimeout = .seconds(60)
        return settings
    }

    // MARK: Starting

    private init() throws {
        let programs = try Self.programs()
        let folder = try Self.makeFolder()
        let data = folder + "/data"
        try Self.run(
            programs + "/initdb",
            ["-D", data, "-U", "paydesk", "-A", "trust", "-E", "UTF8", "--no-sync"] + Self.locale(programs))
        // Another process may take the port between its choice and its use.
        var port = try FreePort.next()
        var attempts = 1
        while true {
            do {
                try Self.start(programs, folder, port)
                break
            } catch  where attempts < 3 {
                attempts += 1
                port = try FreePort.next()
            }
        }
        self.port = port
        self.programs = programs
        self.folder = folder
        try Self.watch(programs, folder)
    }

    // MARK: Stopping

    /// Ends the server at once, as a crash does; its databases recover at ``startAgain()``.
    package func stop() throws {
        try Self.run(programs + "/pg_ctl", ["-D", folder + "/data", "-m", "immediate", "-w", "stop"])
    }

    /// Starts the stopped server on the same port, and returns when it takes connections.
    package func startAgain() throws { try Self.start(programs, folder, port) }

    /// The folder of the programs of the newest installed server, else the folder in PATH that has them.
    private static func programs() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }
        let inPath = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let candidates = versions.sorted(by: >).map { "\(root)/\($0)/bin" } + inPath
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") })
        else { throw Failure(description: "PostgreSQL is not installed: no initdb in \(root)/*/bin or in PATH") }
        return found
    }

    /// A locale whose order of texts differs from COLLATE "C", so that a missing collation shows.
    private static func locale(_ programs: String) -> [String] {
        let version = Int(programs.split(separator: "/").dropLast().last ?? "") ?? 0
        return version >= 15
            ? ["--locale-provider=icu", "--icu-locale=en", "--locale=C.UTF-8"] : ["--locale=C.UTF-8"]
    }

    private static func makeFolder() throws -> String {
        var template = Array((NSTemporaryDirectory() + "/paydesk-postgres-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "cannot create a temporary folder") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if isRoot {
            guard let nobody = getpwnam("nobody"), chown(folder, nobody.pointee.pw_uid, nobody.pointee.pw_gid) == 0
            else { throw Failure(description: "cannot give \(folder) to nobody") }
        }
        return folder
    }

    private static func start(_ programs: String, _ folder: String, _ port: UInt16) throws {
        let options = [
            "-p \(port)", "-c listen_addresses=127.0.0.1", "-c unix_socket_directories=''", "-c fsync=off",
            "-c full_page_writes=off", "-c max_connections=400", "-c shared_buffers=64MB", "-c deadlock_timeout=50ms",
            "-c autovacuum=off", "-c search_path=public,\(schema),pg_catalog",
        ]
        let place = ["-D", folder + "/data", "-l", folder + "/log"]
        try run(programs + "/pg_ctl", place + ["-w", "-t", "60", "-o", options.joined(separator: " "), "start"])
    }

    /// A command that runs the given one as an unprivileged user: PostgreSQL refuses to run as root.
    private static func unprivileged(_ command: [String]) -> [String] {
        isRoot ? ["runuser", "-u", "nobody", "--"] + command : command
    }

    private static var isRoot: Bool { geteuid() == 0 }

    private static func run(_ program: String, _ arguments: [String]) throws {
        let command = unprivileged([program] + arguments)
        let status = try ChildProcess.start(command).wait()
        guard status == 0 else { throw Failure(description: "\(program) ended with status \(status)") }
    }

    /// Starts the process that cleans up after this one; its `cat` returns when this process's end of the pipe is
    /// closed.
    private static func watch(_ programs: String, _ folder: String) throws {
        let stop = unprivileged([programs + "/pg_ctl", "-D", folder + "/data", "-m", "immediate", "stop"])
        let script = "trap '' HUP INT TERM; cat; folder=$1; shift; \"$@\"; rm -rf \"$folder\""
        try ChildProcess.startUntilParentEnds(["setsid", "sh", "-c", script, "sh", folder] + stop)
    }
}
