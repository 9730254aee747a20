import ArgumentParser
import Store

/// `paydesk migrate`.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Brings the database's schema up to date.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        let store = try configuration.openUnmigrated { _ in }
        do {
            let applied = try await Migrator.apply(Migrations.all, to: store, at: SystemDependencies.seconds())
            await store.engine.close()
            print(
                applied.isEmpty
                    ? "The schema is current."
                    : "Applied \(applied.map { "\($0.number) \($0.name)" }.joined(separator: ", ")).")
        } catch {
            await store.engine.close()
            throw CommandError.store(error)
        }
    }
}
