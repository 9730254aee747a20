import Domain
import Foundation
import Gateway
import HTTPTypes
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Audit of admin writes")
struct AdminAuditTests {
    /// An admin's write, and the expected audit entry.
    struct Act: Sendable {
        let endpoint: String
        let body: String
        let action: String
        /// The text that `before` of the entry must contain.
        let before: String
        let after: String
        let reason: String
        let path: @Sendable (Scene) -> String

        init(
            _ endpoint: String, _ action: String, body: String = "{}", before: String, after: String,
            reason: String = "", _ path: @escaping @Sendable (Scene) -> String
        ) {
            self.endpoint = endpoint
            self.body = body
            self.action = action
            self.before = before
            self.after = after
            self.reason = reason
            self.path = path
        }
    }

    /// The objects on which the acts are performed.
    struct Scene: Sendable {
        let paid: String
        let open: String
        let mismatched: String
        let notification: String
        let job: String
        let grant: String
        let key: String
        let subscription: String
        let session: String
    }

    /// Writes whose audit other tests read: signing in and out (`ConsoleSessionTests`).
    static let auditedElsewhere: Set<String> = [
        "POST /v1/admin/console/session", "DELETE /v1/admin/console/session",
        // `RenewalTests`.
        "POST /v1/admin/subscriptions/{id}/cancel", "POST /v1/admin/subscriptions/{id}/resume",
        "POST /v1/admin/subscriptions/{id}/retry", "POST /v1/admin/subscriptions/import",
        "POST /v1/admin/skus/{id}/price-change", "POST /v1/admin/billing",
        // `ExternalPurchaseTests`.
        "POST /v1/admin/external-purchases/{id}/report", "POST /v1/admin/external-purchases/{id}/retry",
        // `AdminInboxTests`.
        "PATCH /v1/admin/webhooks/{id}", "POST /v1/admin/webhooks/{id}/rotate-secret",
        "POST /v1/admin/deliveries/{id}/redeliver",
    ]

    static let acts = [
        Act(
            "POST /v1/admin/skus", "sku.created",
            body:
                #"{"id":"new","name":"New","kind":"non_renewing","duration_days":5,"prices":[{"currency":"CNY","value":1}]}"#,
            before: "", after: #""id":"new""#
        ) { _ in "/v1/admin/skus" },
        Act(
            "PATCH /v1/admin/skus/{id}", "sku.changed", body: #"{"name":"Other"}"#, before: "VIP monthly",
            after: #""name":"Other""#
        ) { _ in "/v1/admin/skus/vip_month" },
        Act("DELETE /v1/admin/skus/{id}", "sku.archived", before: #""active":true"#, after: #""active":false"#) { _ in
            "/v1/admin/skus/vip_year"
        },
        Act(
            "PATCH /v1/admin/accounts/{id}", "account.changed", body: #"{"enabled":false}"#, before: "as configured",
            after: "enabled false"
        ) { _ in "/v1/admin/accounts/box-qr" },
        Act("POST /v1/admin/accounts/{id}/sync", "account.synced", before: "", after: "job_") { _ in
            "/v1/admin/accounts/box-stripe/sync"
        },
        Act(
            "POST /v1/admin/orders/{id}/refunds", "refund.created",
            body: #"{"amount":{"value":100,"currency":"CNY"},"reason":"broken"}"#, before: "", after: "1.00 CNY",
            reason: "broken"
        ) { "/v1/admin/orders/\($0.paid)/refunds" },
        Act(
            "POST /v1/admin/orders/{id}/mismatches/{n}", "mismatch.accepted",
            body: #"{"act":"accept","reason":"the bank's fee"}"#, before: "1 of pay_", after: "accepted",
            reason: "the bank's fee"
        ) { "/v1/admin/orders/\($0.mismatched)/mismatches/1" },
        Act("POST /v1/admin/orders/{id}/refresh", "order.refreshed", before: "open", after: "asked by an admin") {
            "/v1/admin/orders/\($0.open)/refresh"
        },
        Act("POST /v1/admin/orders/{id}/close", "order.closed", before: "open", after: "closed by an admin") {
            "/v1/admin/orders/\($0.open)/close"
        },
        Act(
            "POST /v1/admin/subscriptions/{id}/extend", "subscription.extended", body: #"{"days":30,"reason_code":3}"#,
            before: "", after: "30 days, reason 3, until 1900000000"
        ) { "/v1/admin/subscriptions/\($0.subscription)/extend" },
        Act(
            "POST /v1/admin/users/{user_id}/grants", "grant.created",
            body: #"{"sku":"vip_month","duration_days":3,"reason":"sorry"}"#, before: "", after: "vip_month",
            reason: "sorry"
        ) { _ in "/v1/admin/users/alice/grants" },
        Act(
            "POST /v1/admin/users/{user_id}/balances/{unit}/credit", "balance.credited",
            body: #"{"amount":5,"reason":"sorry"}"#, before: "coins 0", after: "coins 5 crd_", reason: "sorry"
        ) { _ in "/v1/admin/users/alice/balances/coins/credit" },
        Act(
            "POST /v1/admin/users/{user_id}/balances/{unit}/debit", "balance.debited",
            body: #"{"amount":2,"reason":"too much"}"#, before: "coins 5", after: "coins 3 dbt_", reason: "too much"
        ) { _ in "/v1/admin/users/alice/balances/coins/debit" },
        Act("DELETE /v1/admin/grants/{id}", "grant.revoked", before: "good", after: "revoked by an admin") {
            "/v1/admin/grants/\($0.grant)"
        },
        Act(
            "POST /v1/admin/api-keys", "key.created", body: #"{"name":"shop","scopes":["orders:read"]}"#, before: "",
            after: "shop of shop: orders:read"
        ) { _ in "/v1/admin/api-keys" },
        Act("DELETE /v1/admin/api-keys/{id}", "key.revoked", before: "good", after: "revoked") {
            "/v1/admin/api-keys/\($0.key)"
        },
        Act(
            "POST /v1/admin/sessions", "session.created", body: #"{"user_id":"alice","purpose":"portal"}"#, before: "",
            after: "portal"
        ) { _ in "/v1/admin/sessions" },
        Act("DELETE /v1/admin/sessions/{id}", "session.ended", before: "running", after: "ended") {
            "/v1/admin/sessions/\($0.session)"
        },
        Act("POST /v1/admin/notifications/{id}/replay", "notification.replayed", before: "processed", after: "stored") {
            "/v1/admin/notifications/\($0.notification)/replay"
        },
        Act("POST /v1/admin/jobs/{id}/retry", "job.retried", before: "waiting", after: "waiting") {
            "/v1/admin/jobs/\($0.job)/retry"
        },
        Act(
            "POST /v1/admin/purchases/{original_transaction_id}/transfer", "purchase.transferred",
            body: #"{"user_id":"bob"}"#, before: "alice", after: "bob"
        ) { _ in "/v1/admin/purchases/audited/transfer" },
        Act("POST /v1/admin/users/{user_id}/erase", "user.erased", before: "named", after: "erased") { _ in
            "/v1/admin/users/bob/erase"
        },
        // The last one, because later entries would be of another time.
        Act(
            "POST /v1/admin/clock", "clock.moved", body: #"{"advance_seconds":60}"#, before: "2026-", after: "2026-"
        ) { _ in "/v1/admin/clock" },
    ]

    private static func scene(_ counter: Counter) async throws -> Scene {
        let (alice, bob) = (try await counter.token("alice"), try await counter.token("bob"))
        let paid = try await counter.checkout(alice)
        _ = try await counter.notify("payment.succeeded", paid)
        let mismatched = try await counter.checkout(bob)
        _ = try await counter.notify("payment.succeeded", mismatched, value: 4_000)
        let open = try await counter.checkout(bob)
        try await counter.desk.gateway.workFinder.prepare()
        let now = counter.desk.clock.now
        try await counter.desk.store.write { tx in
            guard let alice = try tx.users.findID(GatewayFixture.user("alice")) else { return }
            _ = try tx.purchaseOwners.bind(StoreSubject(.production, "audited"), to: alice, at: now)
        }
        func newest(_ path: String) async throws -> String {
            try #require(try await counter.get(path, counter.adminKey).data["items"].elements.first).text("id")
        }
        let given = try await counter.post(
            "/v1/admin/users/alice/grants", counter.adminKey, #"{"sku":"vip_kept","reason":"first"}"#)
        let session = try await counter.session(alice, purpose: "portal")
        return Scene(
            paid: paid.text("order_id"), open: open.text("order_id"), mismatched: mismatched.text("order_id"),
            notification: try await newest("/v1/admin/notifications"), job: try await newest("/v1/admin/jobs"),
            grant: try given.data.text("id"), key: try await counter.key("orders:read").id.rawValue,
            subscription: try await counter.desk.scriptedSubscription().rawValue,
            session: session.text("id"))
    }

    @Test(arguments: TestEngine.allCases)
    func `every admin write says who did what under which request, before and after`(
        _ engine: TestEngine
    ) async throws {
        var setup = CounterSetup()
        setup.desk.isDevelopment = true
        try await withCounter(on: engine, setup) { counter in
            let writes = counter.api.routes.filter {
                $0.path.hasPrefix("/v1/admin/") && $0.method != .get
            }.map { "\($0.method) \($0.path)" }.filter { !Self.auditedElsewhere.contains($0) }
            #expect(Set(writes) == Set(Self.acts.map(\.endpoint)))
            let scene = try await Self.scene(counter)
            let actor = try await counter.desk.gateway.keys.authenticate(key: counter.adminKey).actor.label
            for (number, act) in Self.acts.enumerated() {
                counter.desk.clock.advance(seconds: 1)
                let method = try #require(HTTPRequest.Method(String(act.endpoint.prefix { $0 != " " })))
                let reply = try await counter.send(
                    method, act.path(scene), counter.adminKey, body: act.body,
                    headers: ["X-Request-Id": "act-\(number)", "Idempotency-Key": "key-\(number)"])
                #expect(reply.status == 200, "\(act.endpoint): \(reply)")
                let audit = try await counter.get("/v1/admin/audit?limit=200", counter.adminKey)
                #expect(!audit.text.contains("act-\(number)"))
                let digest = Digests.audited("act-\(number)")
                let entry = try #require(
                    try audit.data["items"].elements.first {
                        $0.text("request_id") == digest && $0.text("action") == act.action
                    }, "\(act.endpoint)")
                #expect(entry.text("reason") == act.reason)
                #expect(entry.text("actor") == actor)
                #expect(entry.int("at") == counter.desk.clock.now.rawValue)
                #expect(act.before.isEmpty ? entry.text("before") == "" : entry.text("before").contains(act.before))
                #expect(entry.text("after").contains(act.after), "\(entry)")
            }
        }
    }
}
