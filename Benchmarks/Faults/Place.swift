import ArgumentParser
import Foundation
import Store
import TestSupport

enum EngineChoice: String, ExpressibleByArgument, CaseIterable {
    case sqlite, postgres, both

    var engines: [TestEngine] {
        switch self {
        case .sqlite: [.sqlite]
        case .postgres: [.postgres]
        case .both: [.sqlite, .postgres]
        }
    }
}

/// The database, configuration, output folder and ports of one engine's rounds; the same over all rounds.
struct Place: Sendable {
    let engine: TestEngine
    let folder: String
    let databaseURL: String
    let port: UInt16

    /// The database URL in the server's configuration: the proxy's address where there is a proxy.
    let servedURL: String
    /// The proxy at which connections to PostgreSQL are cut; nil for SQLite.
    let proxy: PostgresProxy?
    private let database: String

    /// - Parameters:
    ///   - folder: the parent folder; files of an earlier run in this place's subfolder are removed.
    ///   - number: unlike that of any other place of this process.
    init(_ engine: TestEngine, folder: String, number: Int) throws {
        self.engine = engine
        self.folder = Self.absolute(folder) + "/\(engine.rawValue)-\(number)"
        database = "paydesk_faults_\(number)"
        try? FileManager.default.removeItem(atPath: self.folder)
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        switch engine {
        case .sqlite:
            databaseURL = "sqlite:\(self.folder)/paydesk.db"
            servedURL = databaseURL
            proxy = nil
        case .postgres:
            let cluster = try PostgresCluster.running()
            try cluster.administer("CREATE DATABASE \(database)")
            let proxy = try PostgresProxy(to: cluster.port)
            databaseURL = Self.url(database, port: cluster.port)
            servedURL = Self.url(database, port: proxy.port)
            self.proxy = proxy
        }
        // Below the ports that the kernel gives to clients: a client that connects while a server is dead could get its
        // port.
        port = UInt16(20_000 + (Int(getpid()) * 64 + number * 4) % 12_000)
    }

    private static func url(_ database: String, port: UInt16) -> String {
        "postgres://paydesk@127.0.0.1:\(port)/\(database)?sslmode=disable&gssencmode=disable"
    }

    /// The path of SQLite's database file; the paths of its other files begin with it.
    var databaseFile: String { folder + "/paydesk.db" }

    static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    private static func seconds() -> Int64 { Int64(Date().timeIntervalSince1970) }

    /// Opens the database for reading while the server uses it.
    func openReadOnly() throws -> Store { try Store.openReadOnly(DatabaseURL(databaseURL), now: Self.seconds) }

    /// Opens the database of a dead server for writing.
    func open() throws -> Store {
        try Store.open(
            DatabaseURL(databaseURL), connections: 1, now: Self.seconds, jitter: { 0.5 }, onFailure: { _ in })
    }

    // MARK: Losing the database

    /// Copies the database of a dead server.
    func keepCopy() throws {
        switch engine {
        case .sqlite:
            try FileManager.default.createDirectory(atPath: folder + "/copy", withIntermediateDirectories: true)
            try copyFiles(from: folder, to: folder + "/copy")
        case .postgres:
            try dropConnections()
            try PostgresCluster.running().administer("CREATE DATABASE \(database)_copy TEMPLATE \(database)")
        }
    }

    /// Puts the copy in the place of the database, as after a disk that lost writes which it had reported as durable.
    func restoreCopy() throws {
        switch engine {
        case .sqlite:
            try copyFiles(from: folder + "/copy", to: folder)
        case .postgres:
            let cluster = try PostgresCluster.running()
            try cluster.administer("DROP DATABASE \(database) WITH (FORCE)")
            try cluster.administer("ALTER DATABASE \(database)_copy RENAME TO \(database)")
        }
    }

    private func copyFiles(from source: String, to target: String) throws {
        for name in ["paydesk.db", "paydesk.db-wal", "paydesk.db-shm"] {
            try? FileManager.default.removeItem(atPath: "\(target)/\(name)")
            guard FileManager.default.fileExists(atPath: "\(source)/\(name)") else { continue }
            try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
        }
    }

    /// Ends all sessions of the database and waits until they are gone.
    ///
    /// PostgreSQL copies a template only while nobody is connected to it, and a dead client's sessions end a moment
    /// later.
    private func dropConnections() throws {
        let cluster = try PostgresCluster.running()
        let sessions = "FROM pg_stat_activity WHERE datname = '\(database)'"
        for _ in 0..<1_000 {
            try cluster.administer("SELECT pg_terminate_backend(pid) \(sessions)")
            if try cluster.administer("SELECT pid \(sessions)").isEmpty { return }
        }
        throw Server.Failure(description: "sessions of \(database) do not end")
    }
}
