import ArgumentParser
import Domain
import Foundation
import Gateway
import Logging
import Store

/// `paydesk replay --dry-run`.
struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Rebuilds orders, subscriptions and entitlements from the stored facts, and prints the differences.")

    @OptionGroup var common: CommonOptions
    @Flag(help: "Required: only compares, and changes nothing in the database.") var dryRun = false
    @Flag(help: "Prints JSON.") var json = false

    func validate() throws {
        guard dryRun else { throw ValidationError("replay only compares: say --dry-run.") }
    }

    func run() async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        let source = try await configuration.openReadOnly()
        let line = ProgressLine.ofTerminal()
        defer { line?.end() }
        let report: ReplayReport
        do {
            report = try await Self.replay(configuration, source, line?.progress ?? ReadingProgress())
        } catch {
            await source.engine.close()
            throw CommandError.store(error)
        }
        await source.engine.close()
        line?.end()
        try show(report)
        guard report.differences.isEmpty else {
            throw CommandError.checkFailed("paydesk: \(report.differences.count) differences")
        }
    }

    private static func replay(
        _ configuration: Configuration, _ source: Store, _ progress: ReadingProgress
    ) async throws -> ReplayReport {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "paydesk-replay-\(SystemDependencies.name())")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let scratch = try Store.open(
            .sqlite(path: folder.appendingPathComponent("replay.db").path), now: SystemDependencies.seconds,
            jitter: SystemDependencies.jitter
        ) { _ in }
        do {
            try await Migrator.apply(Migrations.all, to: scratch, at: SystemDependencies.seconds())
            let gateway = try Composition(
                configuration, store: scratch, providers: CommandLineTool.providers, transport: NoTransport(),
                logger: Logger(label: "paydesk") { _ in SwiftLogNoOpLogHandler() }
            ).gateway
            let inbox = ReplayInbox(source: source, scratch: scratch, gateway: gateway, progress: progress)
            let report = try await inbox.run()
            await scratch.engine.close()
            return report
        } catch {
            await scratch.engine.close()
            throw error
        }
    }

    private func show(_ report: ReplayReport) throws {
        if json {
            print(try JSONText.line(report))
            return
        }
        for difference in report.differences { print("\(difference.subject): \(difference.detail)".shownOnOneLine) }
        print(
            "\(report.steps) facts and acts, \(report.orders) orders, \(report.subscriptions) subscriptions, "
                + "\(report.grants) grants compared.")
        if report.skipped > 0 {
            print("\(report.skipped) orders or subscriptions are older than the facts and were not compared.")
        }
        if report.differences.isEmpty { print("What is stored is what was stated.") }
    }
}
