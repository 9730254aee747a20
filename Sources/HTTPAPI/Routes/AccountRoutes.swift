import Domain
import Foundation
import Gateway
import HTTPTypes
import ProviderKit

/// Providers and accounts for admins (`api.md` section 11).
struct AccountRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/admin/providers", .key([.admin, .adminRead]), handle: providers),
            Endpoint(.get, "/v1/admin/accounts", .key([.admin, .adminRead]), handle: list),
            Endpoint(.patch, "/v1/admin/accounts/{id}", .key([.admin]), handle: change),
            Endpoint(.post, "/v1/admin/accounts/{id}/sync", .key([.admin]), handle: sync),
        ]
    }

    private func providers(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(Listing(items: gateway.registry.manifests.map(ManifestView.init)))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(Listing(items: try await gateway.listAccounts().map(AccountItem.init)))
    }

    private func change(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(AccountFields.self)
        guard fields.enabled != nil || fields.routing != nil || fields.reset != nil else {
            throw .invalidRequest(field: "", reason: "needs enabled, routing or reset")
        }
        let change = AccountChange(
            enabled: fields.enabled, routing: fields.routing?.value, reset: fields.reset ?? false)
        return try .json(
            AccountItem(try await gateway.changeAccount(call.parameter("id"), change, context: call.context)))
    }
}

extension AccountRoutes {
    private func sync(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        switch try await gateway.syncAccount(call.parameter("id"), context: call.context) {
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

    init(_ view: AccountView) {
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

/// What the account is and can do; for a plugin's account, what the plugin says.
private struct AccountManifest: Encodable {
    let display_name: String
    let contract_types: [String]
    let currencies: [Currency]
    let capabilities: Capabilities
    /// `built_in`, or what became of fetching it: `awaited`, `pinned`, `changed`.
    let state: String
    /// Why it is awaited, or what has changed.
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
    let cancel: ProviderManifest.Cancellation
    let refunds: ProviderManifest.Refunds
    let goods: ProviderManifest.Goods
    let notifications: [ProviderManifest.NotificationMethod]
    let development_only: Bool

    init(_ manifest: ProviderManifest) {
        recurring = manifest.recurring
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
