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
        abstract: "Says what would fail at the first payment, and how to mend it.")

    @OptionGroup var common: CommonOptions
    @Flag(help: "Prints JSON.") var json = false
    @Flag(help: "Asks no provider anything over the network.") var offline = false

    private struct Finding: Encodable {
        let check: String
        let good: Bool
        let detail: String
        /// Good enough to sell, but somebody should look at it.
        var warning = false

        init(check: String, good: Bool, detail: String, warning: Bool = false) {
            self.check = check
            self.good = good
            self.detail = detail
            self.warning = warning
        }

        /// - Parameter warns: whether somebody should look at a notice.
        init(_ account: AccountID, _ diagnosis: Diagnosis, warns: Bool = false) {
            self.init(
                check: "account \(account.rawValue), \(diagnosis.subject)", good: diagnosis.level != .fault,
                detail: diagnosis.words, warning: warns && diagnosis.level == .notice)
        }
    }

    func run() async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        var findings = [
            Finding(
                check: "configuration", good: true,
                detail: "\(configuration.mode.rawValue), \(configuration.accounts.count) accounts")
        ]
        let store: Store
        do throws(CommandError) {
            store = try await configuration.openReadOnly()
        } catch {
            findings.append(Finding(check: "database", good: false, detail: error.message))
            try show(findings)
            throw CommandError(message: "paydesk: the database is not ready", exitCode: error.exitCode)
        }
        findings += try await examine(configuration, store)
        await store.engine.close()
        try show(findings)
        guard findings.allSatisfy(\.good) else { throw CommandError.checkFailed("paydesk: not everything is well") }
    }

    private func examine(_ configuration: Configuration, _ store: Store) async throws -> [Finding] {
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
    ) async throws -> [Finding] {
        let gateway = try Composition(
            configuration, store: store, providers: CommandLineTool.providers, transport: transport,
            logger: Logger(label: "paydesk") { _ in SwiftLogNoOpLogHandler() }
        ).gateway
        let readiness = await gateway.readiness()
        var findings = readiness.checks.sorted { $0.key < $1.key }.map {
            Finding(check: $0.key, good: $0.value == "ok", detail: $0.value)
        }
        let lacksKey = try await gateway.lacksKey()
        findings.append(
            Finding(
                check: "keys", good: !lacksKey,
                detail: lacksKey
                    ? "secrets.keys lacks the key that sealed what is in the database; put it back, after the new one"
                    : "secrets.keys opens what was sealed last"))
        let accounts = try await gateway.listAccounts()
        if !offline { await fetchManifests(accounts.map(\.account)) }
        for view in accounts {
            let state = view.account.enabled ? "enabled" : "disabled"
            let override =
                view.isOverridden ? ", changed by an admin (PATCH {\"reset\":true} goes back to the file)" : ""
            let routing =
                view.hasUnreadableRouting
                ? ", the admin's routing cannot be read by this release, so the file's counts: set it again or reset it"
                : ""
            findings.append(
                Finding(
                    check: "account \(view.account.id.rawValue)", good: !view.hasUnreadableRouting,
                    detail:
                        "\(view.account.manifest.kind), \(state), priority \(view.account.routing.priority)\(override)\(routing)"
                ))
        }
        findings.append(try await sellable(gateway))
        findings += try await unknownProducts(gateway)
        findings += examined(accounts.map(\.account))
        if !offline { findings += await online(accounts.map(\.account)) }
        return findings
    }

    /// What the enabled accounts can tell of their own settings.
    private func examined(_ accounts: [ConfiguredAccount]) -> [Finding] {
        accounts.filter(\.enabled).flatMap { account in
            (account.provider as? any SelfExamining)?.examine().map { Finding(account.id, $0, warns: true) } ?? []
        }
    }

    /// What such an account sells is its service's to say, so it is asked before anything is judged.
    private func fetchManifests(_ accounts: [ConfiguredAccount]) async {
        for account in accounts where account.enabled {
            _ = await (account.provider as? any ManifestFetching)?.fetchManifest(keeps: false)
        }
    }

    /// What the enabled accounts' services say when they are tried.
    private func online(_ accounts: [ConfiguredAccount]) async -> [Finding] {
        var findings: [Finding] = []
        for account in accounts where account.enabled {
            guard let provider = account.provider as? any OnlineDiagnosing else { continue }
            findings += await provider.diagnose().map { Finding(account.id, $0) }
        }
        return findings
    }

    /// SKUs that no enabled account could sell anywhere: their checkout would end in `no_provider_available`.
    private func sellable(_ gateway: Gateway) async throws -> Finding {
        let unsold = try await gateway.unsoldSKUs()
        return Finding(
            check: "catalogue", good: unsold.isEmpty,
            detail: unsold.isEmpty
                ? "every SKU on offer has an account that sells it"
                : "no enabled account sells \(unsold.map(\.id).joined(separator: ", ")); enable one or archive the SKU")
    }

    /// Products that customers paid for and that give nothing until a SKU names them.
    private func unknownProducts(_ gateway: Gateway) async throws -> [Finding] {
        let (unknown, shown) = (try await gateway.unknownProducts(), 20)
        var findings = unknown.prefix(shown).map { found in
            Finding(
                check: "product \(found.product)", good: true,
                detail: "no SKU knows it, so \(found.purchases) kept purchases of \(found.bundle) give nothing (the "
                    + "last of \(found.newest.utcDate)); add it to a SKU's apple_product_ids, or run `paydesk catalog "
                    + "import` with the app's .storekit file: they are granted at once",
                warning: true)
        }
        if unknown.count > shown {
            let more = "and \(unknown.count - shown) more that no SKU knows"
            findings.append(Finding(check: "products", good: true, detail: more, warning: true))
        }
        return findings
    }

    private func show(_ findings: [Finding]) throws {
        if json { return print(try JSONText.make(findings)) }
        for finding in findings {
            let word = !finding.good ? "FAIL" : finding.warning ? "warn" : "ok  "
            print("\(word) \(finding.check): \(finding.detail)")
        }
    }
}
