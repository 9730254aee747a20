import ArgumentParser
import AsyncHTTPClient
import Domain
import Gateway
import Logging
import ProviderKit
import Store

/// `paydesk doctor`.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks configuration, database and providers, and prints each fault with its remedy.")

    @OptionGroup var common: CommonOptions
    @Flag(help: "Prints JSON.") var json = false
    @Flag(help: "Makes no calls over the network to providers.") var offline = false

    func run() async throws {
        let (configuration, registry) = try load()
        var findings = configuration.ownFindings
        let store: Store
        do throws(CommandError) {
            store = try await configuration.openReadOnly()
        } catch {
            findings.append(DoctorFinding("database", good: false, error.message))
            findings += DoctorExamination.examined(registry.accounts)
            try show(findings)
            throw CommandError(message: "paydesk: the database is not ready", exitCode: error.exitCode)
        }
        findings += try await examine(configuration, store)
        await store.engine.close()
        try show(findings)
        guard findings.allSatisfy(\.good) else { throw CommandError.checkFailed("paydesk: not everything is well") }
    }

    /// Loads the configuration, with settings that every provider accepts; with `--json` a fault is printed as a
    /// finding.
    private func load() throws -> (Configuration, ProviderRegistry) {
        do throws(CommandError) {
            let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
            return (
                configuration,
                try configuration.registry(CommandLineTool.providers, transport: NoTransport()) { _ in NoBook() }
            )
        } catch {
            if json { try show([DoctorFinding("configuration", good: false, error.message)]) }
            throw error
        }
    }

    private func examine(_ configuration: Configuration, _ store: Store) async throws -> [DoctorFinding] {
        guard !offline else { return try await examine(configuration, store, NoTransport()) }
        let transport = AsyncTransport()
        do {
            let findings = try await examine(configuration, store, transport)
            try? await transport.client.shutdown()
            return findings
        } catch {
            try? await transport.client.shutdown()
            throw error
        }
    }

    private func examine(
        _ configuration: Configuration, _ store: Store, _ transport: any HTTPTransport
    ) async throws -> [DoctorFinding] {
        let gateway = try Composition(
            configuration, store: store, providers: CommandLineTool.providers, transport: transport,
            logger: Logger(label: "paydesk") { _ in SwiftLogNoOpLogHandler() }
        ).gateway
        return try await DoctorExamination(configuration: configuration, gateway: gateway)
            .findings(reaching: offline ? nil : transport)
    }

    private func show(_ findings: [DoctorFinding]) throws {
        if json { return print(try JSONText.line(findings)) }
        for finding in findings { print(finding.line) }
    }
}
