import Domain
import Foundation
import Gateway
import HTTPTypes
import ProviderKit

/// Routes of providers and accounts for admins (`docs/api.md` section 11).
struct AccountRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listProviders", .get, "/v1/admin/providers", .key([.admin, .adminRead]), .accounts,
                "The kinds of providers that this server knows", note: "All of them at once.",
                answers: .page(.providerKind), handle: providers),
            Route(
                "listAccounts", .get, "/v1/admin/accounts", .key([.admin, .adminRead]), .accounts,
                "The configured accounts as they count now", note: "All of them at once.",
                answers: .page(.configuredAccount), handle: list),
            Route(
                "changeAccount", .patch, "/v1/admin/accounts/{id}", .key([.admin]), .accounts,
                "Changes an account from the next checkout on",
                note: "One member at least is needed. `reset` goes back to the account's file, whatever else is named.",
                body: .json(.changedAccount), answers: .data(.configuredAccount), refuses: [.notFound], handle: change),
            Route(
                "syncAccount", .post, "/v1/admin/accounts/{id}/sync", .key([.admin]), .accounts,
                "Reconciles an account now",
                note: "Asks what the periodic jobs would ask. After ten seconds a job goes on with it.",
                body: .json(.object([:])), answers: .data(.accountSync), handle: sync),
        ]
    }

    private func providers(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(Listing(items: gateway.registry.manifests.map(ManifestView.init)))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let shows = try call.callingKey.allows(.admin)
        return try .json(
            Listing(items: try await gateway.accounts.list().map { AccountItem($0, gateway, showsAddress: shows) }))
    }

    private func change(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(AccountFields.self)
        guard fields.enabled != nil || fields.routing != nil || fields.reset != nil else {
            throw .invalidRequest(field: "", reason: "needs enabled, routing or reset")
        }
        let change = AccountChange(
            enabled: fields.enabled, routing: fields.routing?.value, reset: fields.reset ?? false)
        return try .json(
            AccountItem(
                try await gateway.accounts.change(call.parameter("id"), change, context: call.context), gateway,
                showsAddress: true))
    }
}

extension AccountRoutes {
    private func sync(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        switch try await gateway.accountReconciliation.sync(call.parameter("id"), context: call.context) {
        case .done(let checked, let changed, let refused):
            return try .json(
                FinishedSync(checked: checked, changed: changed, refused: refused.isEmpty ? nil : refused))
        case .running(let job): return try .json(["job_id": job])
        }
    }
}

private struct FinishedSync: Encodable {
    let checked: Int64
    let changed: Int64
    let refused: [String]?
}

private struct AccountFields: Decodable {
    let enabled: Bool?
    let routing: Patch<AccountRouting>?
    let reset: Bool?
}

private struct AccountItem: Encodable {
    let id: String
    let kind: String
    let enabled: Bool
    let routing: AccountRouting
    let contract_types: [String]
    let overridden: Bool
    let test: Bool
    let health: CircuitBreaker.Health
    let manifest: AccountManifest
    @Nullable private(set) var notify_url: String?
    @Nullable private(set) var last_notification_at: Timestamp?

    /// - Parameter showsAddress: true for callers who may know the notification address, which is a secret.
    init(_ view: AccountView, _ gateway: Gateway, showsAddress: Bool) {
        let address = showsAddress && !view.account.manifest.notifications.isEmpty ? view.account.notifyToken : nil
        notify_url = address.map { "\(gateway.settings.publicURL)/v1/notify/\($0)" }
        last_notification_at = view.lastNotificationAt
        id = view.account.id.rawValue
        kind = view.account.manifest.kind
        enabled = view.account.enabled
        routing = view.account.routing
        contract_types = view.account.provider.contractTypes.map(\.rawValue).sorted()
        overridden = view.isOverridden
        test = view.account.isTest
        health = view.health
        manifest = AccountManifest(view.account)
    }
}

/// The manifest of an account; for a plugin's account, the one that the plugin states.
private struct AccountManifest: Encodable {
    let display_name: String
    let contract_types: [String]
    let currencies: [Currency]
    let capabilities: Capabilities
    /// `built_in`, or the state of a plugin's manifest: `awaited`, `pinned`, `changed`.
    let state: String
    /// The reason of `awaited`, or the difference of `changed`.
    let detail: String?

    init(_ account: ConfiguredAccount) {
        let manifest = account.manifest
        display_name = manifest.displayName
        contract_types = manifest.contractTypes.map(\.rawValue).sorted()
        currencies = manifest.currencies
        capabilities = Capabilities(manifest)
        switch account.manifestState {
        case nil: (state, detail) = ("built_in", nil)
        case .awaited(let why): (state, detail) = ("awaited", why)
        case .pinned: (state, detail) = ("pinned", nil)
        case .changed(let what): (state, detail) = ("changed", "\(what): restart to take it")
        }
    }
}

private struct Capabilities: Encodable {
    let recurring: Bool
    let mandates: Bool
    let cancel: ProviderManifest.Cancellation
    let refunds: ProviderManifest.Refunds
    let goods: ProviderManifest.Goods
    let notifications: [ProviderManifest.NotificationMethod]
    let development_only: Bool

    init(_ manifest: ProviderManifest) {
        recurring = manifest.recurring
        mandates = manifest.mandates
        cancel = manifest.cancel
        refunds = manifest.refunds
        goods = manifest.goods
        notifications = manifest.notifications
        development_only = manifest.developmentOnly
    }
}

private struct ManifestView: Encodable {
    let kind: String
    let display_name: String
    let contract_types: [ContractType]
    let currencies: [Currency]
    let capabilities: Capabilities
    let settings_schema: JSONSchema

    init(_ manifest: ProviderManifest) {
        kind = manifest.kind
        display_name = manifest.displayName
        contract_types = manifest.contractTypes
        currencies = manifest.currencies
        capabilities = Capabilities(manifest)
        settings_schema = manifest.settings.jsonSchema
    }
}

extension Shape {
    fileprivate static let providerKind = named(
        "ProviderKind",
        .object([
            "kind": .string, "display_name": .string, "contract_types": .list(.words(ContractType.self)),
            "currencies": currenciesTaken, "capabilities": providerCapabilities,
            "settings_schema": .map(.any).noted("What its accounts may be configured with, as JSON Schema."),
        ]))

    fileprivate static let configuredAccount = named(
        "Account",
        .object([
            "id": .string, "kind": .string, "enabled": .boolean, "routing": accountRouting,
            "contract_types": .list(.words(ContractType.self)),
            "overridden": .boolean.noted("Whether an admin's word counts before the account's file."),
            "test": .boolean.noted("Whether it is in its provider's test mode: what it sells is `Sandbox`."),
            "health": .words(CircuitBreaker.Health.self).noted(
                "What this node believes: `closed` answers, `open` does not, `half_open` is being tried."),
            "manifest": accountManifest,
            "notify_url": .string.orNull.noted(
                "Where its provider sends notifications; null for `admin:read` and for kinds without notifications."),
            "last_notification_at": .time.orNull.noted("When the last one that verified arrived."),
        ]))

    private static let accountManifest = named(
        "AccountManifest",
        .object(
            [
                "display_name": .string, "contract_types": .list(.words(ContractType.self)),
                "currencies": currenciesTaken, "capabilities": providerCapabilities,
                "state": .words("built_in", "awaited", "pinned", "changed").noted(
                    "`built_in`, or what became of fetching a plugin's manifest."),
            ], optional: ["detail": .string.noted("Why it is awaited, or what has changed.")]))

    private static let providerCapabilities = named(
        "ProviderCapabilities",
        .object([
            "recurring": .boolean.noted("Subscriptions renew by themselves."),
            "mandates": .boolean.noted("Paydesk can renew subscriptions through it."),
            "cancel": .words("definite", "best_effort", "none").noted(
                "How surely a payment can be made impossible before another is opened."),
            "refunds": .words("partial", "full", "none"), "goods": .words("anything", "apple_products"),
            "notifications": .list(.words("GET", "POST")),
            "development_only": .boolean.noted("Refused in production mode, unless `allow_test_accounts` is true."),
        ]))

    private static let accountRouting = named(
        "AccountRouting",
        .object([
            "platforms": .list(.words(Platform.self)).noted("Empty means all, as with currencies and SKUs."),
            "currencies": .list(.currency), "priority": .integer.noted("The highest is tried first."),
            "weight": .integer.noted("The share among equal priorities; 0 is never chosen."),
            "min": .integer.orNull.noted("Of the amount, in minor units of the order's currency."),
            "max": .integer.orNull, "skus": .list(.string),
        ]))

    fileprivate static let changedAccount = named(
        "AccountChange",
        .object(
            [:],
            optional: [
                "enabled": .boolean.orNull,
                "routing": changedRouting.orNull.noted(
                    "A member that is left out stays; null goes back to its default (RFC 7396)."),
                "reset": .boolean.orNull,
            ])
    ).shown(#"{"enabled":false}"#)

    private static let changedRouting = object(
        [:],
        optional: [
            "platforms": .list(.words(Platform.self)).orNull, "currencies": .list(.knownCurrency).orNull,
            "priority": .integer(-1_000_000...1_000_000).orNull.noted("0 by default."),
            "weight": .integer(0...1_000_000).orNull.noted("1 by default."),
            "min": .integer(0...Int64.max).orNull,
            "max": .integer(0...Int64.max).orNull.noted("Not below `min`."), "skus": .list(.code, 0...1_000).orNull,
        ])

    fileprivate static let accountSync = named(
        "AccountSync",
        .object(
            [:],
            optional: [
                "checked": .integer.noted("How many were asked about; with `changed`, once it is done."),
                "changed": .integer.noted("How many of them moved."),
                "refused": .list(.string).noted(
                    "The apps whose notifications the store refuses, each with its reason; absent where there is none."),
                "job_id": .id("job").noted("Alone, where it is not done within ten seconds: this job goes on with it."),
            ])
    ).shown(#"{"checked":12,"changed":1}"#)

    private static let currenciesTaken = list(.currency).noted("Empty means all.")
}
