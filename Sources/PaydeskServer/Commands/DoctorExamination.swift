import Domain
import Gateway
import ProviderKit
import Store

/// The checks of `paydesk doctor` on an open database, also for `GET /v1/admin/doctor`.
struct DoctorExamination: Sendable {
    let configuration: Configuration
    let gateway: Gateway

    /// - Parameter transport: calls the accounts' services; nil makes no call over the network.
    func findings(reaching transport: (any HTTPTransport)?) async throws -> [DoctorFinding] {
        var findings = await readiness()
        let lacksKey = try await gateway.secrets.lacksKey()
        findings.append(
            DoctorFinding(
                "keys", good: !lacksKey,
                lacksKey
                    ? "secrets.keys lacks the key that sealed what is in the database; put it back, after the new one"
                    : "secrets.keys opens what was sealed last"))
        let accounts = try await gateway.accounts.list()
        if transport != nil { await fetchManifests(accounts.map(\.account)) }
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
        findings += longWaits(accounts.map(\.account))
        findings += try await boxFindings()
        findings += try await renewalFindings()
        findings += try await gateway.externalPurchases.findings().map {
            DoctorFinding(warning: $0.subject, $0.words)
        }
        findings.append(try await sellable())
        findings += try await unchargeable()
        findings += try await gateway.catalogue.skusGivingNothing().map { empty in
            DoctorFinding(
                "sku \(empty.sku.id)", good: false,
                "is on offer and gives nothing: \(empty.fault.field): \(empty.fault.reason.english); correct or archive it"
            )
        }
        findings += try await unknownProducts()
        findings += Self.examined(accounts.map(\.account))
        if let transport {
            findings += await configuration.examineKeySet(by: transport)
            findings += await online(accounts.map(\.account))
        }
        return findings
    }

    /// Finds services that end a payment before its order ends.
    private func longWaits(_ accounts: [ConfiguredAccount]) -> [DoctorFinding] {
        let minutes = gateway.settings.policies.expireAfterMinutes
        return accounts.compactMap { account in
            guard account.enabled, let longest = account.manifest.longestWait, minutes * 60 > longest else {
                return nil
            }
            return DoctorFinding(
                warning: "account \(account.id.rawValue)",
                "orders.expire_after_minutes is \(minutes), and the service ends a payment after \(longest / 86_400) days; "
                    + "set at most \(longest / 60)")
        }
    }

    /// Reports a hold of renewals, and subscriptions whose account cannot charge them.
    private func renewalFindings() async throws -> [DoctorFinding] {
        let months = CardMonths.around(gateway.time.now)
        let late = gateway.time.now.adding(seconds: -RenewalMeter.overdueSeconds)
        let (running, unsent, expiring) = try await gateway.store.report { db in
            (
                try db.managedSubscriptions.countRunning(), try db.managedSubscriptions.countUnsent(before: late),
                try db.mandates.countExpiring(before: months)
            )
        }
        let hold = try await gateway.billingHold.read().hold
        // Charges on hold wait for no service.
        var findings = (hold == nil ? unsent : [:]).sorted { $0.key < $1.key }.map { account, count in
            DoctorFinding(
                "account \(account.rawValue)", good: false,
                "\(count) renewals wait for its service, which does not answer or does not understand the charge: "
                    + "see the log")
        }
        if expiring > 0 {
            findings.append(
                DoctorFinding(
                    warning: "cards",
                    "\(expiring) subscriptions are charged next after the last month of their card; ask these users for "
                        + "another payment method"))
        }
        if let hold {
            findings.append(
                DoctorFinding(
                    "billing", good: false,
                    "renewals are on hold (\(hold.reason)): \(hold.due) are due; POST /v1/admin/billing {\"hold\":false} goes on"
                ))
        }
        for (account, count) in running.sorted(by: { $0.key < $1.key }) {
            guard let found = gateway.registry[account] else {
                findings.append(
                    DoctorFinding(
                        "account \(account.rawValue)", good: false,
                        "is not configured, and \(count) subscriptions renew through it; put its file back"))
                continue
            }
            if !found.manifest.mandates {
                findings.append(
                    DoctorFinding(
                        "account \(account.rawValue)", good: false,
                        "charges no mandates, and \(count) subscriptions renew through it"))
            }
        }
        return findings
    }

    /// Reports the App Store in a box and its purchases; in production they are a fault.
    private func boxFindings() async throws -> [DoctorFinding] {
        let count = try await gateway.store.report { db in try db.purchases.countFromBox() }
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

    private func readiness() async -> [DoctorFinding] {
        await gateway.health.readiness().checks.sorted { $0.key < $1.key }.map { check, value in
            guard check != "clock" || value != "ok" || gateway.store.engine.dialect != .sqlite else {
                return DoctorFinding(check, good: true, "not compared: an embedded database has no clock of its own")
            }
            return DoctorFinding(check, good: value == "ok", value)
        }
    }

    /// Checks the settings of the enabled accounts, each by its own provider.
    static func examined(_ accounts: [ConfiguredAccount]) -> [DoctorFinding] {
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
    private func sellable() async throws -> DoctorFinding {
        let unsold = try await gateway.catalogue.unsoldSKUs()
        return DoctorFinding(
            "catalogue", good: unsold.isEmpty,
            unsold.isEmpty
                ? "every SKU on offer has an account that sells it"
                : "no enabled account sells \(unsold.map(\.id).joined(separator: ", ")); enable one or archive the SKU")
    }

    /// Finds prices that no account can charge exactly: a last digit, a minimum or a maximum of the services.
    private func unchargeable() async throws -> [DoctorFinding] {
        try await gateway.catalogue.unchargeablePrices().map { sku, price in
            DoctorFinding(
                warning: "sku \(sku)",
                "no enabled account can charge exactly \(price.decimal) \(price.currency.code); change the price, or enable "
                    + "an account that can")
        }
    }

    /// Finds products that customers have paid for and that give nothing until a SKU names them.
    private func unknownProducts() async throws -> [DoctorFinding] {
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
}

extension Configuration {
    /// The findings that need neither a database nor a call.
    var ownFindings: [DoctorFinding] {
        [DoctorFinding("configuration", good: true, "\(mode.rawValue), \(accounts.count) accounts")]
            + examineTLS(at: SystemDependencies.time.now) + examinePublicURL()
            + examineStreams(ConnectionLimit.raise())
    }
}
