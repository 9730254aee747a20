import Domain
import FoundationEssentials
import Logging
import Store

/// The counts of secrets after a resealing.
package struct ResealedSecrets: Codable, Sendable, Equatable {
    /// The secrets that were sealed again with the newest key.
    package var resealed: Int
    /// The secrets that cannot be opened, because the key ring lacks their key.
    package var closed: Int
}

/// The secrets in the database, sealed with the keys of `secrets.keys`.
package struct SealedSecrets: Sendable {
    let store: StoreAccess
    let keyRing: KeyRing
    let logger: Logger

    private static let resealPage: Int64 = 200
    private static let answers = "idempotency_keys"

    /// The columns with sealed secrets, each with the context to which a secret is bound.
    private static let sealedColumns: [(column: SealedColumn, place: @Sendable (SealedValue) -> String)] = [
        (SealedColumn("webhooks", "secret", key: ["id"]), { "webhooks.secret/\($0.key[0])" }),
        (SealedColumn("webhooks", "previous_secret", key: ["id"]), { "webhooks.secret/\($0.key[0])" }),
        (SealedColumn("payments", "instruction", key: ["id"]), { "payments.instruction/\($0.key[0])" }),
        (SealedColumn("payments", "payer_address", key: ["id"]), { "payments.payer_address/\($0.key[0])" }),
        (
            SealedColumn("payments", "wechat_openid", key: ["id"]), { PayerOpenID.place(payment: $0.key[0]) }
        ),
        (
            SealedColumn("sessions", "wechat_openid", key: ["id"]), { PayerOpenID.place(session: $0.key[0]) }
        ),
        (SealedColumn("mandates", "reference", key: ["id"]), { MandateSecrets.referencePlace($0.key[0]) }),
        (SealedColumn("mandates", "customer", key: ["id"]), { MandateSecrets.customerPlace($0.key[0]) }),
        (SealedColumn("setups", "instruction", key: ["id"]), { SealedInstruction.place(setup: $0.key[0]) }),
        (SealedColumn("notifications", "body", key: ["id"]), { "notifications.body/\($0.key[0])" }),
        (SealedColumn("notifications", "headers", key: ["id"]), { "notifications.headers/\($0.key[0])" }),
        (
            SealedColumn("purchases", "evidence", key: ["environment", "key"], further: ["transaction_id"]),
            { "purchases.evidence/\($0.key[0])/\($0.further[0])" }
        ),
        (
            SealedColumn(
                "offer_signatures", "answer", key: ["user_id", "account", "product_id", "offer_id", "format"]),
            { SignedOffers.place($0.key) }
        ),
        (SealedColumn("receipts", "evidence", key: ["digest"]), { "receipts.evidence/\($0.key[0])" }),
        (SealedColumn("box_meta", "authority", key: ["name"]), { "box_meta.authority/\($0.key[0])" }),
        (SealedColumn("snapshot_keys", "secret", key: ["kid"]), { SnapshotKey.place($0.key[0]) }),
        (
            SealedColumn(answers, "answer", key: ["caller", "key"]),
            { IdempotentRequests.place($0.key[0], $0.key[1]) }
        ),
    ]

    /// Seals every secret with the newest key, after which the other keys may be removed; the server may run meanwhile.
    package func reseal() async throws(GatewayError) -> ResealedSecrets {
        var result = ResealedSecrets(resealed: 0, closed: 0)
        for (column, place) in Self.sealedColumns {
            var last: [String]?
            while true {
                let start = last
                let page = try await store.read { db in
                    try db.secrets.list(column, after: start, limit: Self.resealPage)
                }
                let keyRing = keyRing
                let old = page.filter { !keyRing.isNewest($0.sealed) }
                let done = try await store.write { tx -> ResealedSecrets in
                    var done = ResealedSecrets(resealed: 0, closed: 0)
                    for value in old {
                        guard let opened = try? keyRing.open(value.sealed, context: place(value)) else {
                            // An answer of an earlier release, which is sealed for the client's own key, goes after its days.
                            let isOfClient = column.table == Self.answers && keyRing.hasKey(of: value.sealed)
                            if !isOfClient { done.closed += 1 }
                            continue
                        }
                        let sealed = try keyRing.seal(opened, context: place(value))
                        if try tx.secrets.update(column, value, as: sealed) { done.resealed += 1 }
                    }
                    return done
                }
                result.resealed += done.resealed
                result.closed += done.closed
                guard page.count == Int(Self.resealPage) else { break }
                last = page.last?.key
            }
        }
        return result
    }

    /// True where a value is sealed with a key that this node does not have.
    ///
    /// Such a node answers 500 to requests for values that another node, or its own earlier process, has sealed. Only
    /// the newest row of each table is checked.
    package func lacksKey() async throws(GatewayError) -> Bool {
        try await store.read { db in try db.secrets.listNewest() }.contains { !keyRing.hasKey(of: $0) }
    }

    /// Logs an error when this node lacks a key.
    package func warnOfMissingKey() async throws(GatewayError) {
        guard try await lacksKey() else { return }
        logger.error("secrets.keys lacks the key that sealed what is in the database: every node needs the same keys")
    }
}
