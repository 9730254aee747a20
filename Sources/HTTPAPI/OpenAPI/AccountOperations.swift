import Domain
import Gateway
import HTTPTypes

extension OperationGroup {
    /// Providers and accounts of `api.md` section 11.
    static let accounts = OperationGroup(
        name: "Providers and accounts", note: "Who takes the money, and when which of them is chosen.",
        operations: [
            Operation(
                "listProviders", .get, "/v1/admin/providers", "The kinds of providers that this server knows",
                note: "All of them at once.", answers: .page(.providerKind)),
            Operation(
                "listAccounts", .get, "/v1/admin/accounts", "The configured accounts as they count now",
                note: "All of them at once.", answers: .page(.configuredAccount)),
            Operation(
                "changeAccount", .patch, "/v1/admin/accounts/{id}", "Changes an account from the next checkout on",
                note: "One member at least is needed. `reset` goes back to the account's file, whatever else is named.",
                body: .json(.changedAccount), answers: .data(.configuredAccount), refuses: [.notFound]),
            Operation(
                "syncAccount", .post, "/v1/admin/accounts/{id}/sync", "Reconciles an account now",
                note: "Asks what the periodic jobs would ask. After ten seconds a job goes on with it.",
                body: .json(.object([:])), answers: .data(.accountSync)),
        ])
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
