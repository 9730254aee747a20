import Domain
import Gateway
import HTTPTypes

/// Routes of the catalogue for admins (`docs/api.md` section 11).
struct SKURoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "createSKU", .post, "/v1/admin/skus", .key([.admin]), .catalogue, "Adds a SKU",
                note: "Kept purchases of its Apple products are granted at once.", query: Route.Query.dryRun,
                body: .json(.newSKU), answers: .data(.oneOf([.storedSKU, .triedSKU])), refuses: [.conflict],
                handle: create),
            Route(
                "listSKUs", .get, "/v1/admin/skus", .key([.admin, .adminRead]), .catalogue,
                "All SKUs, archived ones too", query: Route.Query.page(.numberCursor), answers: .page(.storedSKU),
                handle: list),
            Route(
                "readSKU", .get, "/v1/admin/skus/{id}", .key([.admin, .adminRead]), .catalogue, "One SKU",
                answers: .data(.storedSKU), refuses: [.skuNotFound], handle: read),
            Route(
                "changeSKU", .patch, "/v1/admin/skus/{id}", .key([.admin]), .catalogue, "Changes members of a SKU",
                note: "A member that is left out stays; null goes back to the default (RFC 7396).",
                query: Route.Query.dryRun, body: .json(.changedSKU), answers: .data(.oneOf([.storedSKU, .triedSKU])),
                refuses: [.skuNotFound, .conflict], handle: change),
            Route(
                "archiveSKU", .delete, "/v1/admin/skus/{id}", .key([.admin]), .catalogue, "Takes a SKU off the shelf",
                note: "What was bought of it stays.", answers: .data(.storedSKU), refuses: [.skuNotFound],
                handle: archive),
        ]
    }

    private func create(_ call: Call) async throws(GatewayError) -> Answer {
        guard try call.flag("dry_run") != true else {
            return try .namedJSON(try await gateway.catalogue.tryCreating(try call.decode(), context: call.context))
        }
        return try .json(try await gateway.catalogue.create(try call.decode(), context: call.context))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.catalogue.list(cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.catalogue.find(call.parameter("id")))
    }

    private func change(_ call: Call) async throws(GatewayError) -> Answer {
        let patch = try call.decode(Patch<SKU>.self).value
        guard try call.flag("dry_run") != true else {
            return try .namedJSON(
                try await gateway.catalogue.tryChanging(call.parameter("id"), patch, context: call.context))
        }
        return try .json(try await gateway.catalogue.change(call.parameter("id"), patch, context: call.context))
    }

    private func archive(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.catalogue.archive(call.parameter("id"), context: call.context))
    }
}

extension Route.Query {
    /// The parameter of calls that can be tried out.
    static let dryRun: [Route.Query] = [
        query(
            Route.dryRun, .words("true", "false"),
            "`true` writes nothing, ignores the `Idempotency-Key` and answers what would happen.")
    ]
}

extension Shape {
    /// The answer to a dry run of a SKU.
    fileprivate static let triedSKU = named(
        "TriedSKU",
        .object([
            "sku": storedSKU,
            "would_grant": .list(
                .object(["user_id": .string, "product_id": .string, "transaction_id": .string])
            ).noted("Kept purchases that it would grant, the first 100."),
            "would_grant_total": .integer,
        ]))

    fileprivate static let storedSKU = named(
        "SKU",
        .object(
            [
                "id": .string, "number": .integer.noted("Assigned, ascending."), "name": .string,
                "description": .string, "kind": .words(SKU.Kind.self), "tier": .string, "rank": .integer,
                "prices": .list(.money), "apple_product_ids": .list(.string),
                "offers": .list(.promotionalOffer),
                "options": .list(.object(["days": .integer, "prices": .list(.money)])),
                "units": .map(.integer), "attributes": .map(.any), "client_fallback": .boolean,
                "stacking": stackingOfSKU, "stack_group": .string, "on_refund": onRefundOfSKU,
                "renewal": renewalOfSKU, "trial_days": .integer, "grace_days": .integer,
                "one_period_elsewhere": .boolean, "consumption": consumptionOfSKU, "once": onceOfSKU,
                "physical": .boolean, "active": .boolean,
                "localizations": .map(.object(["name": .string], optional: ["description": .string])),
            ],
            optional: [
                "duration_days": .integer, "period": .billingPeriod, "plan_code": .string, "subscribe_id": .integer,
                "tax_category": .string,
            ]))

    fileprivate static let newSKU = named(
        "NewSKU",
        partsOfSKU.adding(
            [
                "id": code.noted("It never changes."),
                "name": nameOfSKU,
                "kind": .words(SKU.Kind.self),
            ],
            optional: [
                "units": .map(unitsOfSKU, keys: code, 0...20).orNull.noted(
                    "What a consumable credits; names like ids."),
                "localizations": .map(namedWordsOfSKU, keys: languageOfSKU, 0...50).orNull.noted(
                    "By language tag, `zh-Hans`."),
            ])
    ).shown(
        """
        {"id":"vip_month","name":"VIP monthly","kind":"non_renewing","tier":"VIP","rank":20,"duration_days":30,\
        "prices":[{"currency":"CNY","value":3990}],"apple_product_ids":["com.example.vip.month"]}
        """)

    fileprivate static let changedSKU = named(
        "SKUChange",
        partsOfSKU.adding(
            [:],
            optional: [
                "id": code.noted("As it is, or left out."), "name": nameOfSKU, "kind": .words(SKU.Kind.self),
                "units": .map(unitsOfSKU.orNull, keys: code, 0...20).orNull.noted("A null takes one unit out."),
                "localizations": .map(wordsOfSKU.orNull, keys: languageOfSKU, 0...50).orNull.noted(
                    "A null takes one language out."),
            ])
    ).shown(#"{"prices":[{"currency":"CNY","value":2990}]}"#)

    /// The members that both a new SKU and a change may have.
    private static let partsOfSKU = object(
        [:],
        optional: [
            "description": descriptionOfSKU, "tier": .plain(0...64).orNull.noted("Empty for none."),
            "rank": .integer(0...1_000_000).orNull.noted("0 where it is left out; the highest decides the membership."),
            "duration_days": .integer(1...3_660).orNull.noted(
                "Needed for a pass that has neither options nor a pattern."),
            "plan_code": .plain(0...64).orNull,
            "subscribe_id": .integer(1...Int64.max).orNull.noted("What a client's fallback names."),
            "prices": .list(.price, 0...200).orNull.noted("One a currency; needed where there are no options."),
            "apple_product_ids": .list(.appleProductID, 0...100, isSet: true).orNull.noted(
                "Or `bundle:product`; one may be a pattern with `${days}`. Each belongs to one active SKU."),
            "offers": .list(.offerOfSKU, 0...PromotionalOffer.most).orNull.noted(
                "The promotional offers of App Store Connect that are signed, each product with different ids."),
            "options": .list(lengthOfSKU, 0...100).orNull.noted("The lengths that a pass is sold in."),
            "attributes": .map(.any, 0...50).orNull.noted("Free; entitlements show them."),
            "client_fallback": .boolean.orNull.noted("Whether a client may name it for a product that is not known."),
            "stacking": stackingOfSKU.orNull.noted("`extend` for passes where it is left out, else `none`."),
            "stack_group": .plain(0...64).orNull.noted("Passes of one group lie end to end; the tier, or else the id."),
            "on_refund": onRefundOfSKU.orNull.noted("`revoke` where it is left out."),
            "renewal": renewalOfSKU.orNull.noted(
                "How a subscription is sold outside of the App Store: not at all, where it is left out, one period at "
                    + "a time (`one_period`), or renewed by Paydesk (`managed`)."),
            "period": periodOfSKU.orNull.noted("The length of a subscription's period; needed where it is managed."),
            "trial_days": .integer(0...365).orNull.noted(
                "The trial of a managed subscription; 0 where it is left out."),
            "grace_days": .integer(0...28).orNull.noted(
                "How long access goes on while a renewal is refused; 3 where it is left out, shorter than the period."),
            "one_period_elsewhere": .boolean.orNull.noted(
                "The older name: true says the same as `renewal` `one_period`, false the same as `store_only`."),
            "consumption": consumptionOfSKU.orNull.noted(
                "What Apple is told when a customer who consented asks for a refund; `ignore` where it is left out."),
            "once": onceOfSKU.orNull.noted(
                "How often a user has it for a price of 0: `ever`, once, where it is left out; `running`, again when it "
                    + "has ended; `none`, without a limit."),
            "tax_category": code.orNull.noted(
                "Names its rate of tax in the settings of external purchases; without one it is not sold so."),
            "physical": .boolean.orNull.noted(
                "Whether it is used outside of the app: only then an iOS app may start Alipay or WeChat for it; false where "
                    + "it is left out."),
            "active": .boolean.orNull.noted("True where it is left out."),
        ])

    private static let lengthOfSKU = named(
        "SKULength", .object(["days": .integer(1...3_660), "prices": .list(.price, 1...200)]))

    private static let nameOfSKU = plain(1...200).noted("In Unicode scalars; no control characters.")

    private static let languageOfSKU = plain(1...35)

    private static let descriptionOfSKU = plainText(0...4_000).orNull

    private static let namedWordsOfSKU = object(["name": nameOfSKU], optional: ["description": descriptionOfSKU])

    private static let wordsOfSKU = object([:], optional: ["name": nameOfSKU, "description": descriptionOfSKU])

    private static let unitsOfSKU = integer(1...1_000_000_000_000)

    private static let stackingOfSKU = words("none", "extend")

    private static let onRefundOfSKU = words("revoke", "keep")

    private static let renewalOfSKU = words(SKU.Renewal.self)

    private static let periodOfSKU = named(
        "SKUPeriod",
        .object([
            "unit": .words(BillingPeriod.Unit.self),
            "count": .integer(1...366).noted("At most 366 days, 52 weeks, 24 months or 3 years."),
        ]))

    private static let consumptionOfSKU = words("ignore", "decline", "no_preference", "grant_full")

    private static let onceOfSKU = words("ever", "running", "none")
}
