import Dispatch
import Foundation
import Store
import Synchronization

/// The migrated databases that tests copy: one for each engine and list of migrations.
actor TestTemplates {
    private struct Key: Hashable {
        let engine: TestEngine
        let digests: [String]
    }

    static let shared = TestTemplates()
    private static let number = Atomic<Int>(0)
    /// Runs copies one after another, because PostgreSQL copies a template only while nobody else uses it.
    ///
    /// The queue also keeps these blocking calls off Swift's cooperative pool.
    private static let queue = DispatchQueue(label: "paydesk.templates")

    private var templates: [Key: Task<String, any Error>] = [:]

    static func nextNumber() -> Int { number.add(1, ordering: .relaxed).newValue }

    static func administer(_ sql: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async {
                continuation.resume(with: Result { _ = try PostgresCluster.running().administer(sql) })
            }
        }
    }

    /// The path of the file or the name of the database to copy.
    func template(_ engine: TestEngine, _ migrations: [Migration]) async throws -> String {
        let key = Key(engine: engine, digests: migrations.map(\.digest))
        if let template = templates[key] { return try await template.value }
        let template = Task { try await Self.make(engine, migrations) }
        templates[key] = template
        return try await template.value
    }

    private static func make(_ engine: TestEngine, _ migrations: [Migration]) async throws -> String {
        let name = "paydesk_template_\(nextNumber())"
        let template: String
        let url: DatabaseURL
        switch engine {
        case .sqlite:
            let folder = FileManager.default.temporaryDirectory.appending(path: "\(name)_\(getpid())")
            template = folder.appending(path: "template.db").path
            url = try DatabaseURL("sqlite:\(template)")
            TemporaryFolders.removeAtExit(folder.path)
        case .postgres:
            try await administer("CREATE DATABASE \(name)")
            template = name
            url = try PostgresCluster.running().url(database: name)
        }
        let store = try TestDatabase.open(url, rehearse: false)
        let result: Result<Void, any Error>
        do {
            try await Migrator.apply(migrations, to: store, at: TestDatabase.time)
            if engine == .postgres { try await store.write(TestDatabase.stopClock) }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await store.engine.close()
        try result.get()
        return template
    }
}

/// Folders that are removed when the test process exits.
enum TemporaryFolders {
    private static let folders = Mutex<[String]>([])

    static func removeAtExit(_ folder: String) {
        let isFirst = folders.withLock { folders in
            folders.append(folder)
            return folders.count == 1
        }
        guard isFirst else { return }
        atexit {
            let folders = TemporaryFolders.folders.withLock { $0 }
            for folder in folders { try? FileManager.default.removeItem(atPath: folder) }
        }
    }
}
