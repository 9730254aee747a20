package import Domain
import FoundationEssentials
import Store

/// The answer to an erasure.
package struct Erasure: Encodable, Sendable, Equatable {
    package let erased: Bool
}

extension Gateway {
    /// Forgets who a user is; what they did stays under the internal id (`domain.md` section 9).
    ///
    /// The mapping, the app's own words about their orders (metadata, return addresses; in events too) and their idempotency
    /// keys go. Purchases stay bound to who is nobody's now, so nobody inherits them, and what is still on its way (a late
    /// payment, a refund) settles as before. Nothing that passes by time alone is announced any more.
    /// - Throws: `notFound` for who was never seen, or was erased before: that their name was ever here is forgotten too.
    package func eraseUser(_ user: ExternalUserID, context: CallContext) async throws(GatewayError) -> Erasure {
        // A run that was cut short has erased already.
        guard context.resumed == nil else { return Erasure(erased: true) }
        return try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
            let tx = settlement.tx
            guard let id = try tx.lockMapping(user) else { throw GatewayError.notFound }
            try tx.lockUser(id)
            for event in try tx.eventsWithMetadata(of: id) {
                try tx.replaceEvent(event.id, data: try Self.withoutMetadata(event.data))
            }
            try tx.eraseUser(id)
            try tx.bind(context, to: id.rawValue)
            try settlement.audit(subject: id.rawValue, "user.erased", before: "named", after: Self.erasedName)
            return Erasure(erased: true)
        }
    }

    private static func withoutMetadata(_ snapshot: String) throws -> String {
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(snapshot.utf8))
        guard case .object(var members) = value, members["metadata"] != nil else { return snapshot }
        members["metadata"] = .object([:])
        return try JSONValue.object(members).storedJSON()
    }
}
