import ArgumentParser
import AsyncHTTPClient
import Domain
import ProviderKit
import ProviderTesting

/// `paydesk conformance`.
struct Conformance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Drives an account's plugin through everything that Paydesk relies on. It opens no database.",
        discussion: """
            For accounts of kind remote, whose plugin runs in its rehearsal mode: payments are opened, paid, cancelled and \
            refunded there. Each check is printed with its end; exit 0 where none failed.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "The account, as its file in providers/ is named.") var account: String
    @Flag(help: "Prints JSON.") var json = false

    private struct Shown: Encodable {
        struct Check: Encodable {
            let name: String
            let outcome: String
            let detail: String
        }

        let account: String
        let green: Bool
        let checks: [Check]
    }

    func run() async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        let transport = AsyncTransport()
        let report: ConformanceReport
        do { report = try await examine(configuration, transport) } catch {
            try? await transport.client.shutdown()
            throw error
        }
        try? await transport.client.shutdown()
        print(json ? try JSONText.line(Self.shown(report)) : report.description)
        guard report.isGreen else { throw CommandError.checkFailed("paydesk: the plugin does not conform") }
    }

    private func examine(
        _ configuration: Configuration, _ transport: AsyncTransport
    ) async throws(CommandError) -> ConformanceReport {
        let registry = try configuration.registry(CommandLineTool.providers, transport: transport) { _ in NoBook() }
        guard let found = AccountID(account).flatMap({ registry[$0] }) else {
            throw .usage("paydesk: there is no account \(account)")
        }
        guard let provider = found.provider as? any Rehearsable else {
            throw .usage("paydesk: \(account) is of kind \(found.manifest.kind), whose provider is in the binary")
        }
        let rehearse: @Sendable () -> any Rehearsal
        do throws(RehearsalGap) { rehearse = try await provider.rehearsals() } catch {
            throw .checkFailed("paydesk: \(error.description)")
        }
        // Other ids in every run, so that a plugin that stores its payments sees new ones.
        let seed = SystemDependencies.random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let kit = await ProviderConformance(account, seed: seed, rehearse: rehearse).run()
        return ConformanceReport(subject: account, results: kit.results + (await provider.examineService()))
    }

    private static func shown(_ report: ConformanceReport) -> Shown {
        Shown(
            account: report.subject, green: report.isGreen,
            checks: report.results.map { result in
                switch result.outcome {
                case .passed: .init(name: result.name, outcome: "passed", detail: "")
                case .failed(let reason): .init(name: result.name, outcome: "failed", detail: reason)
                case .notApplicable(let why): .init(name: result.name, outcome: "not_applicable", detail: why)
                }
            })
    }
}
