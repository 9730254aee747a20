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
        var findings = [
            DoctorFinding(
                "configuration", good: true,
                "\(configuration.mode.rawValue), \(configuration.accounts.count) accounts")
        ]
        findings += configuration.examineTLS(at: SystemDependencies.time.now)
        findings += configuration.examinePublicURL() + configuration.examineStreams(ConnectionLimit.raise())
        let store: Store
        do throws(CommandError) {
            store = try await configuration.openReadOnly()
        } catch {
            findings.append(DoctorFinding("database", good: false, error.message))
            findings += examined(registry.accounts)
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
        var findings = await readiness(gateway, store)
        let lacksKey = try await gateway.secrets.lacksKey()
        findings.append(
            DoctorFinding(
                "keys", good: !lacksKey,
                lacksKey
                    ? "secrets.keys lacks the key that sealed what is in the database; put it back, after the new one"
                    : "secrets.keys opens what was sealed last"))
        let accounts = try await gateway.accounts.list()
        if !offline { await fetchManifests(accounts.map(\.account)) }
        for view in accounts {
            let state = view.account.enabled ? "enabled" : "disabled"
            let override =
                view.isOverridden ? ", changed by an admin (PATCH {\"reset\":true} goes back to the file)" : ""
            let test = view.account.isTest ? ", test mode" : ""
            let routing =
                view.hasUnreadableRouting
                ? ", the admin's routing cannot be read by this release, so the file's counts: set it again or reset it"
                : ""
            findings.append(
                DoctorFinding(
                    "account \(view.account.id.rawValue)", good: !view.hasUnreadableRouting,
                    "\(view.account.manifest.kind), \(state), priority \(view.account.routing.priority)\(override)\(test)\(routing)"
                ))
        }
        findings += try await boxFindings(configuration, store)
        findings.append(try await sellable(gateway))
        findings += try await unchargeable(gateway)
        findings += try await gateway.catalogue.skusGivingNothing().map { empty in
            DoctorFinding(
                "sku \(empty.sku.id)", good: false,
                "is on offer and gives nothing: \(empty.fault.field): \(empty.fault.reason.english); correct or archive it"
            )
        }
        findings += try await unknownProducts(gateway)
        findings += examined(accounts.map(\.account))
        if !offline {
            findings += await configuration.examineKeySet(by: transport)
            findings += await online(accounts.map(\.account))
        }
        return findings
    }

    /// Reports the App Store in a box and its purchases; in production they are a fault.
    private func boxFindings(_ configuration: Configuration, _ store: Store) async throws -> [DoctorFinding] {
        let count = try await store.report { db in try db.purchases.countFromBox() }
        if !configuration.isDevelopment {
            guard count > 0 else { return [] }
            return [
                DoctorFinding(
                    "box", good: false,
                    "box: true: \(count) purchases are of an App Store in a box; nobody paid for them, and they entitle "
                        + "nobody here; use a database that no development server has used")
            ]
        }
        guard configuration.development.appStore || count > 0 else { return [] }
        let place = configuration.development.appStore ? "it runs with the server at /dev/appstore" : "it does not run"
        return [
            DoctorFinding(
                "box", good: true, "box: true: \(count) purchases are of the App Store in a box; \(place)")
        ]
    }

    private func readiness(_ gateway: Gateway, _ store: Store) async -> [DoctorFinding] {
        await gateway.health.readiness().checks.sorted { $0.key < $1.key }.map { check, value in
            guard check != "clock" || value != "ok" || store.engine.dialect != .sqlite else {
                return DoctorFinding(check, good: true, "not compared: an embedded database has no clock of its own")
            }
            return DoctorFinding(check, good: value == "ok", value)
        }
    }

    /// Checks the settings of the enabled accounts, each by its own provider.
    private func examined(_ accounts: [ConfiguredAccount]) -> [DoctorFinding] {
        accounts.filter(\.enabled).flatMap { account in
            (account.provider as? any SelfExamining)?.examine().map { DoctorFinding(account.id, $0) } ?? []
        }
    }

    /// Fetches the manifests of accounts whose service states them, before the other checks.
    private func fetchManifests(_ accounts: [ConfiguredAccount]) async {
        for account in accounts where account.enabled {
            _ = await (account.provider as? any ManifestFetching)?.fetchManifest(keeps: false)
        }
    }

    /// Makes test calls to the services of the enabled accounts.
    private func online(_ accounts: [ConfiguredAccount]) async -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for account in accounts where account.enabled {
            guard let provider = account.provider as? any OnlineDiagnosing else { continue }
            findings += await provider.diagnose().map { DoctorFinding(account.id, $0) }
        }
        return findings
    }

    /// Finds SKUs that no enabled account could sell anywhere: their checkout would end in `no_provider_available`.
    private func sellable(_ gateway: Gateway) async throws -> DoctorFinding {
        let unsold = try await gateway.catalogue.unsoldSKUs()
        return DoctorFinding(
            "catalogue", good: unsold.isEmpty,
            unsold.isEmpty
                ? "every SKU on offer has an account that sells it"
                : "no enabled account sells \(unsold.map(\.id).joined(separator: ", ")); enable one or archive the SKU")
    }

    /// Finds prices that no account can charge exactly: a last digit, a minimum or a maximum of the services.
    private func unchargeable(_ gateway: Gateway) async throws -> [DoctorFinding] {
        try await gateway.catalogue.unchargeablePrices().map { sku, price in
            DoctorFinding(
                warning: "sku \(sku)",
                "no enabled account can charge exactly \(price.decimal) \(price.currency.code); change the price, or enable "
                    + "an account that can")
        }
    }

    /// Finds products that customers have paid for and that give nothing until a SKU names them.
    private func unknownProducts(_ gateway: Gateway) async throws -> [DoctorFinding] {
        let (unknown, shown) = (try await gateway.catalogue.unknownProducts(), 20)
        var findings = unknown.prefix(shown).map { found in
            DoctorFinding(
                warning: "product \(found.product)",
                "no SKU knows it, or not how long it lasts, so \(found.purchases) kept purchases of \(found.bundle) "
                    + "give nothing (the last of \(found.newest.utcDate)); add it to the apple_product_ids of a SKU with "
                    + "duration_days, or run `paydesk catalog import` with the app's .storekit file: they are granted at "
                    + "once")
        }
        if unknown.count > shown {
            let more = "and \(unknown.count - shown) more that no SKU knows"
            findings.append(DoctorFinding(warning: "products", more))
        }
        return findings
    }

    private func show(_ findings: [DoctorFinding]) throws {
        if json { return print(try JSONText.line(findings)) }
        for finding in findings { print(finding.line) }
    }
}
