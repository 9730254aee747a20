import ArgumentParser
import Domain
import Gateway
import Store

/// `paydesk check`.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks the stored data against the invariants. It changes nothing and may run beside the server.")

    @OptionGroup var common: CommonOptions
    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        let store = try await configuration.openReadOnly()
        let violations: [Violation]
        let line = ProgressLine.ofTerminal()
        defer { line?.end() }
        let check = InvariantCheck(
            store: store, isProduction: !configuration.isDevelopment, overlap: configuration.billing.overlap,
            time: SystemDependencies.time, progress: line?.progress ?? ReadingProgress())
        do { violations = try await check.run() } catch { throw CommandError.store(error) }
        await store.engine.close()
        line?.end()
        if json {
            print(try JSONText.line(violations))
        } else {
            for violation in violations {
                print("invariant \(violation.invariant): \(violation.subject): \(violation.detail)".shownOnOneLine)
            }
            if violations.isEmpty { print("Every invariant holds.") }
        }
        guard violations.isEmpty else {
            throw CommandError.checkFailed("paydesk: \(violations.count) violations")
        }
    }
}
