import ArgumentParser
import Foundation
import Store

/// `paydesk restore`.
struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Puts a backup in the place of the SQLite database, and holds the charges of renewals.",
        discussion: """
            A backup does not know what was charged after it was made. Until the hold is ended at the API \
            (POST /v1/admin/billing), no mandate is charged, and the providers are asked what they have charged.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The file that `paydesk backup` wrote.") var file: String
    @Flag(help: "Replaces a database that is there.") var replace = false

    func run() async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        guard case .sqlite(let path) = try configuration.database() else {
            throw CommandError.usage(
                "paydesk: this database is PostgreSQL; restore it by its own tools, then hold the charges of renewals: "
                    + "POST /v1/admin/billing")
        }
        let restoration: SQLiteRestoration
        do { restoration = try SQLiteRestoration(at: path) } catch { throw CommandError.store(error) }
        defer { restoration.release() }
        guard !restoration.replacesDatabase || replace else {
            throw CommandError.usage("paydesk: there is a database at \(path); --replace puts the backup in its place")
        }
        do {
            try await copy(to: restoration)
            try await hold(restoration, configuration)
            try restoration.finish()
        } catch {
            restoration.abandon()
            throw CommandError.store(error)
        }
        print("Restored \(file). Renewals are not charged until the hold is ended: POST /v1/admin/billing.")
    }

    /// Copies the backup, after a look that it is one.
    private func copy(to restoration: SQLiteRestoration) async throws {
        let path = URL(fileURLWithPath: file).standardizedFileURL.path
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandError.usage("paydesk: there is no file \(file)")
        }
        let engine: SQLiteEngine
        do {
            engine = try SQLiteEngine(readOnly: path, now: SystemDependencies.seconds)
        } catch {
            throw CommandError.usage("paydesk: \(file) is no backup of Paydesk")
        }
        do {
            let pending = try await Migrator.pending(Migrations.all, in: Store(engine: engine))
            guard pending.count < Migrations.all.count else {
                throw CommandError.usage("paydesk: \(file) is no backup of Paydesk")
            }
            try await restoration.take(engine)
            await engine.close()
        } catch {
            await engine.close()
            throw error
        }
    }

    private func hold(_ restoration: SQLiteRestoration, _ configuration: Configuration) async throws {
        let store = try Store.open(
            .sqlite(path: restoration.copy), connections: 1, now: SystemDependencies.seconds,
            jitter: SystemDependencies.jitter, onFailure: { _ in })
        let name = URL(fileURLWithPath: file).lastPathComponent.prefix(200)
        let command = AdminCommand.holdBilling(reason: "paydesk restore of \(name)")
        let result = try await command.perform(
            in: store, configuration, providers: CommandLineTool.providers)
        if case .refused(let message, let exitCode) = result {
            throw CommandError(message: message, exitCode: exitCode)
        }
    }
}
