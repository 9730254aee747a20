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

/// Where one engine's database, configuration and output are; the same over all rounds.
struct Place: Sendable {
    let engine: TestEngine
    let folder: String
    let databaseURL: String
    let port: UInt16

    private static let database = "paydesk_crash"

    /// - Parameter folder: what an earlier run left there is removed.
    init(_ engine: TestEngine, folder: String) throws {
        self.engine = engine
        self.folder = Self.absolute(folder) + "/" + engine.rawValue
        try? FileManager.default.removeItem(atPath: self.folder)
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        switch engine {
        case .sqlite:
            databaseURL = "sqlite:\(self.folder)/paydesk.db"
        case .postgres:
            let cluster = try PostgresCluster.running()
            try cluster.administer("CREATE DATABASE \(Self.database)")
            let server = "paydesk@127.0.0.1:\(cluster.port)"
            databaseURL = "postgres://\(server)/\(Self.database)?sslmode=disable&gssencmode=disable"
        }
        // Below the ports that the kernel gives to clients: those connect while the server is dead, and could get its own.
        port = UInt16(20_000 + (Int(getpid()) * 2 + (engine == .sqlite ? 0 : 1)) % 10_000)
    }

    static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

    private static func seconds() -> Int64 { Int64(Date().timeIntervalSince1970) }

    /// Reads the database while the server has it.
    func openReadOnly() throws -> Store { try Store.openReadOnly(DatabaseURL(databaseURL), now: Self.seconds) }

    /// Takes the database of a dead server.
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
            try PostgresCluster.running().administer("CREATE DATABASE \(Self.database)_copy TEMPLATE \(Self.database)")
        }
    }

    /// Puts the copy in the place of the database, as a disk does that forgot what it had promised to keep.
    func restoreCopy() throws {
        switch engine {
        case .sqlite:
            try copyFiles(from: folder + "/copy", to: folder)
        case .postgres:
            let cluster = try PostgresCluster.running()
            try cluster.administer("DROP DATABASE \(Self.database) WITH (FORCE)")
            try cluster.administer("ALTER DATABASE \(Self.database)_copy RENAME TO \(Self.database)")
        }
    }

    private func copyFiles(from source: String, to target: String) throws {
        for name in ["paydesk.db", "paydesk.db-wal", "paydesk.db-shm"] {
            try? FileManager.default.removeItem(atPath: "\(target)/\(name)")
            guard FileManager.default.fileExists(atPath: "\(source)/\(name)") else { continue }
            try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
        }
    }

    /// A template is copied only while nobody is connected to it, and a dead client's sessions end a moment later.
    private func dropConnections() throws {
        let cluster = try PostgresCluster.running()
        let sessions = "FROM pg_stat_activity WHERE datname = '\(Self.database)'"
        for _ in 0..<1_000 {
            try cluster.administer("SELECT pg_terminate_backend(pid) \(sessions)")
            if try cluster.administer("SELECT pid \(sessions)").isEmpty { return }
        }
        throw Server.Failure(description: "sessions of \(Self.database) do not end")
    }
}
