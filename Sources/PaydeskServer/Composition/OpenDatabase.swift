import Domain
import Foundation
import Store

extension Configuration {
    /// Parses the database's address.
    func database() throws(CommandError) -> DatabaseURL {
        do throws(DatabaseURLError) { return try DatabaseURL(databaseURL) } catch {
            throw .usage("paydesk.yaml: database.url: \(error)")
        }
    }

    /// Opens the database for this process alone and brings its schema up to date, or refuses.
    ///
    /// An embedded database and development migrate by themselves; production on PostgreSQL waits for `migrate`.
    func openDatabase(
        waiting: WaitForDatabase, onFailure: @escaping @Sendable (StoreError) -> Void
    ) async throws(CommandError) -> Store {
        // A unique name, by which the nodes of one database are counted.
        let store = try openUnmigrated(node: SystemDependencies.name(), onFailure: onFailure)
        do {
            try await waiting { try await applyMigrations(to: store) }
            return store
        } catch {
            await store.engine.close()
            throw .store(error)
        }
    }

    /// Applies pending migrations where that needs no command of the operator.
    func migrate(_ store: Store) async throws(CommandError) {
        do { try await applyMigrations(to: store) } catch { throw .store(error) }
    }

    private func applyMigrations(to store: Store) async throws {
        if store.engine.dialect == .sqlite || isDevelopment {
            try await Migrator.apply(Migrations.all, to: store, at: SystemDependencies.seconds())
        } else if try await !Migrator.pending(Migrations.all, in: store).isEmpty {
            throw CommandError.database("paydesk: the database has pending migrations; run `paydesk migrate` first")
        }
    }

    func openUnmigrated(
        node: String? = nil, onFailure: @escaping @Sendable (StoreError) -> Void
    ) throws(CommandError) -> Store {
        let url = try database()
        do throws(StoreError) {
            return try Store.open(
                url, node: node, now: SystemDependencies.seconds, jitter: SystemDependencies.jitter,
                onFailure: onFailure)
        } catch {
            throw .store(error)
        }
    }

    /// Throws where there is no database yet, so that no empty one is made.
    func requireDatabase() throws(CommandError) {
        guard case .sqlite(let path) = try database(), !FileManager.default.fileExists(atPath: path) else { return }
        throw .database(
            "paydesk: there is no database at \(URL(fileURLWithPath: path).path); `paydesk serve` makes it, and "
                + "database.url is relative to the working directory")
    }

    /// Opens the database for reading, also while `serve` runs.
    func openReadOnly() async throws(CommandError) -> Store {
        try requireDatabase()
        let url = try database()
        do {
            let store = try Store.openReadOnly(url, now: SystemDependencies.seconds)
            let pending = try await Migrator.pending(Migrations.all, in: store)
            guard pending.isEmpty else {
                throw CommandError.database("paydesk: the database has pending migrations; run `paydesk migrate` first")
            }
            return store
        } catch {
            throw .store(error)
        }
    }
}
