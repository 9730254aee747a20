import ArgumentParser
import Foundation
import TestSupport

/// Runs the selected sections and prints one table.
struct Measure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "measure", abstract: "Measures and prints a table. No result, however slow, makes it fail.")

    @Option(help: "The sections to run, separated by commas: \(Section.names).")
    var only = Section.allCases.filter { !Section.byName.contains($0) }.map(\.rawValue).joined(separator: ",")
    @Flag(help: "Prints JSON instead of a table.") var json = false
    @Flag(help: "Repeats the measurements of databases with a temporary PostgreSQL server.") var postgres = false
    @Option(help: "The folder for databases; it should be on a disk.") var folder = "/var/tmp"
    @Option(help: "The program to measure. Default: paydesk in this program's folder.") var paydesk: String?
    @Option(help: "The number of attaches with 16 and with 64 clients; one client makes a fifth of them.")
    var attaches = 5_000
    @Option(help: "The seconds of each of the three measurements of reads.") var seconds = 2
    @Option(help: "The number of grants in the large database.") var grants = 1_000_000
    @Option(help: "The number of events in the backlog that is delivered.") var events = 20_000
    @Option(help: "The number of orders in the section million, which runs only if --only names it.")
    var orders = 1_000_000
    @Option(help: "The number of subscriptions that are synced, and of those that renew at once.")
    var subscriptions = 10_000
    @Option(help: "The Python with the packages of make bench-beside, for the section beside.") var python: String?
    @Option(help: "Writes recordings of perf into this folder: attaches and status reads with 64 clients.")
    var profile: String?

    func run() async throws {
        guard let sections = Section.parse(only) else {
            throw ValidationError("--only takes any of \(Section.names)")
        }
        guard attaches >= 100, seconds >= 1, grants >= 2_000, (1_000...10_000_000).contains(events),
            (100...1_000_000).contains(subscriptions)
        else {
            throw ValidationError(
                """
                --attaches at least 100, --seconds at least 1, --grants at least 2000, --events 1000 to 10000000, \
                --subscriptions 100 to 1000000
                """)
        }
        let bench = try Workbench(
            folder: folder, program: paydesk, attaches: attaches, seconds: seconds, grants: grants, events: events,
            profile: profile)
        defer { bench.remove() }
        var report = Report()
        let asksOpenSSL = !sections.isDisjoint(with: [.verify, .attach])
        report.note(Machine.description)
        report.note(try await bench.durability())
        if asksOpenSSL { report.openSSL.append(try await OpenSSL.verificationsPerSecond(bench)) }
        for engine in postgres ? [Engine.sqlite, .postgres] : [.sqlite] {
            try await measure(sections, on: engine, bench, into: &report)
        }
        if asksOpenSSL { report.openSSL.append(try await OpenSSL.verificationsPerSecond(bench)) }
        print(json ? try report.json : report.table)
        let faults = report.faults
        if !faults.isEmpty { throw BenchFailure(description: "must be 0: \(faults.joined(separator: "; "))") }
    }

    private func measure(
        _ sections: Set<Section>, on engine: Engine, _ bench: Workbench, into report: inout Report
    ) async throws {
        if let note = engine.note { report.note(note) }
        if engine == .sqlite, sections.contains(.verify) {
            progress("verification")
            report.add(try VerifySection.figures())
        }
        if engine == .sqlite, sections.contains(.applepay) {
            progress("payment tokens")
            report.add(try ApplePaySection.figures())
        }
        if engine == .sqlite, sections.contains(.sync) {
            progress("a sync of subscriptions")
            report.add(try await SyncSection.figures(subscriptions: subscriptions))
        }
        if engine == .sqlite, sections.contains(.counts) {
            progress("counts of one operation")
            report.add(try await CountsSection(bench: bench).figures())
        }
        if engine == .sqlite, sections.contains(.limit) {
            progress("the limit of an attach")
            report.add(try await LimitSection(bench: bench).figures())
        }
        if engine == .sqlite, sections.contains(.beside) {
            guard let python else { throw ValidationError("the section beside needs --python") }
            progress("what would be taken instead")
            if !BesideSection.hasNginx { report.note("SKIPPED: nginx: there is none on this machine.") }
            report.add(try await BesideSection(bench: bench, python: python).figures())
        }
        if !sections.isDisjoint(with: [.attach, .commits]) {
            progress("attaches on \(engine)")
            report.add(try await AttachSection(bench: bench, engine: engine).figures(sections))
        }
        if sections.contains(.status) {
            progress("status reads on \(engine)")
            report.add(try await StatusSection(bench: bench, engine: engine).figures())
        }
        if sections.contains(.page) {
            progress("the cashier's page on \(engine)")
            report.add(try await PageSection(bench: bench, engine: engine).figures())
        }
        if sections.contains(.growth) {
            progress("growth on \(engine)")
            report.add(try await GrowthSection(bench: bench, engine: engine, progress: progress).figures())
        }
        if sections.contains(.deliveries) {
            progress("deliveries on \(engine)")
            report.add(try await DeliveriesSection(bench: bench, engine: engine).figures())
        }
        if sections.contains(.checkout) {
            progress("checkouts on \(engine)")
            report.add(try await CheckoutSection(bench: bench, engine: engine).figures())
        }
        if sections.contains(.renewals) {
            progress("renewals on \(engine)")
            let section = RenewalsSection(bench: bench, engine: engine, subscriptions: subscriptions)
            report.add(try await section.figures())
        }
        if sections.contains(.overload) {
            progress("overload on \(engine)")
            report.add(try await OverloadSection(bench: bench, engine: engine).figures())
        }
        if sections.contains(.million) {
            progress("lists of \(orders) orders on \(engine)")
            let section = MillionSection(bench: bench, engine: engine, orders: orders, progress: progress)
            let figures = try await section.figures()
            report.add(figures)
            // An hour of filling would be lost with a failure on the other engine.
            for figure in figures { progress("\(figure.name): \(figure.value.short) \(figure.unit)") }
        }
        if engine == .sqlite { try await measureOnPostgres(sections, bench, into: &report) }
        if sections.contains(.streams) {
            progress("live streams on \(engine)")
            report.add(try await StreamsSection(bench: bench, engine: engine).figures())
        }
        if sections.contains(.slow) {
            progress("slow clients on \(engine)")
            report.add(try await SlowSection(bench: bench, engine: engine).figures())
        }
        if sections.contains(.idle) {
            progress("an idle server on \(engine)")
            report.add(try await IdleSection(bench: bench, engine: engine).figures())
        }
    }

    /// Measures the sections that exist for PostgreSQL alone.
    private func measureOnPostgres(
        _ sections: Set<Section>, _ bench: Workbench, into report: inout Report
    ) async throws {
        let sections = sections.intersection([.pgbench, .nodes])
        guard !sections.isEmpty else { return }
        let cluster: PostgresCluster
        do { cluster = try PostgresCluster.running() } catch {
            return report.note("SKIPPED: \(sections.map(\.rawValue).sorted().joined(separator: ", ")): \(error)")
        }
        if sections.contains(.pgbench) {
            progress("attaches beside pgbench")
            if let program = try Pgbench.program(of: cluster) {
                report.add(try await PgbenchSection(bench: bench, cluster: cluster, program: program).figures())
            } else {
                report.note("SKIPPED: pgbench: there is none beside this PostgreSQL.")
            }
        }
        if sections.contains(.nodes) {
            progress("nodes on PostgreSQL")
            report.add(try await NodesSection(bench: bench, cluster: cluster).figures())
        }
    }

    private func progress(_ what: String) {
        FileHandle.standardError.write(Data("measuring \(what)\n".utf8))
    }
}

/// A part of the measurements that can be run by itself.
enum Section: String, CaseIterable {
    case verify
    case applepay
    case attach
    case commits
    case status
    case page
    case growth
    case deliveries
    case sync
    case checkout
    case renewals
    case overload
    case pgbench
    case nodes
    case streams
    case slow
    case idle
    case limit
    case million
    case counts
    case beside

    /// The sections that run only where they are named: they take an hour, root, or packages of other languages.
    static let byName: Set<Section> = [.million, .counts, .beside]

    static var names: String { allCases.map(\.rawValue).joined(separator: ",") }

    static func parse(_ text: String) -> Set<Section>? {
        let names = text.split(separator: ",").map(String.init)
        let sections = names.compactMap(Section.init)
        return sections.isEmpty || sections.count < names.count ? nil : Set(sections)
    }
}

/// The database engine of the server under test.
enum Engine: String, CustomStringConvertible {
    case sqlite
    case postgres

    var description: String {
        switch self {
        case .sqlite: "SQLite"
        case .postgres: "PostgreSQL"
        }
    }

    /// The difference from production that a reader of the figures must know; nil where there is none.
    var note: String? {
        switch self {
        case .sqlite: nil
        case .postgres:
            "PostgreSQL runs with fsync=off, and its own processes' CPU time is not counted: only the server's is."
        }
    }
}
