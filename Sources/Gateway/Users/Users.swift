package import Domain
import FoundationEssentials
import Store

/// The answer to an erasure.
package struct Erasure: Encodable, Sendable, Equatable {
    package let erased: Bool
}

/// The app's users, who are known by the app's own ids.
package struct Users: Sendable {
    let settlements: SettlementRunner

    /// Erases a user's name; the orders and grants stay under the internal id (`docs/domain.md` section 9).
    ///
    /// It deletes the mapping of the name, the app's own texts about the orders (metadata, return addresses; in events
    /// too), the reasons of refunds, grants and debits, and the idempotency keys. Sessions end. Purchases stay bound to the internal
    /// id, so that no other user inherits them, and late payments and refunds settle as before. Changes by time alone
    /// are no longer announced.
    ///
    /// - Parameter reason: is kept in the audit, so it should not name the user.
    /// - Throws: `notFound` for a user who is unknown or already erased.
    package func erase(
        _ user: ExternalUserID, reason: String? = nil, context: CallContext
    ) async throws(GatewayError) -> Erasure {
        // An earlier run under the same key has erased the user.
        guard context.resumed == nil else { return Erasure(erased: true) }
        return try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            guard let id = try tx.users.lock(user) else {
                throw GatewayError.unknown(.user, user.rawValue)
            }
            try tx.users.lock(id)
            for event in try tx.events.listWithFreeText(of: id) {
                guard let data = try Self.withoutFreeText(event.data) else { continue }
                try tx.events.update(event.id, data: data)
            }
            try settlement.managed.erase(id)
            try tx.sessions.erase(of: id, at: settlements.time.real.now)
            try tx.externalPurchases.erase(id)
            try tx.users.erase(id)
            settlement.log.changed.changes.erased.insert(id)
            try tx.bind(context, to: id.rawValue)
            try settlement.log.audit(
                subject: id.rawValue, "user.erased", before: "named", after: UserNames.erased, reason: reason)
            return Erasure(erased: true)
        }
    }

    /// Removes the texts of clients and staff from an event.
    ///
    /// - Returns: nil where it has none.
    private static func withoutFreeText(_ snapshot: String) throws -> String? {
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(snapshot.utf8))
        guard case .object(var members) = value else { return nil }
        if members["metadata"] != nil { members["metadata"] = .object([:]) }
        // Earlier releases put the reasons of refunds into events.
        members["refunds"] = members["refunds"]?.mapObjects { refund in refund["reason"] = nil }
        members["timeline"] = members["timeline"]?.mapObjects { line in
            guard line["type"] == .string("refund.created"), case .string(let detail) = line["detail"] else { return }
            line["detail"] = .string(String(detail.prefix { $0 != " " }))
        }
        let cleaned = JSONValue.object(members)
        return cleaned == value ? nil : try cleaned.storedJSON()
    }
}

extension JSONValue {
    /// Returns this array with a change of each of its objects.
    fileprivate func mapObjects(_ change: (inout [String: JSONValue]) -> Void) -> JSONValue {
        guard case .array(let elements) = self else { return self }
        return .array(
            elements.map { element in
                guard case .object(var members) = element else { return element }
                change(&members)
                return .object(members)
            })
    }
}
