package import Domain

/// The caller of a use case, the request, and the idempotency key that the request runs under.
package struct CallContext: Sendable {
    package let actor: Actor
    package let requestID: String
    package let idempotency: IdempotentRun?
    /// True for callers who may see how payments are routed.
    package var showsAccounts = false
    /// The page on which the caller acts; nil for a call without one.
    package var via: ActingPage?

    package init(actor: Actor, requestID: String, idempotency: IdempotentRun? = nil) {
        self.actor = actor
        self.requestID = requestID
        self.idempotency = idempotency
    }

    /// The id of the object that an earlier, unfinished run under the same key made; nil in a first run.
    var resumed: String? { idempotency?.resource }
    var audit: AuditContext { AuditContext(actor: actor, requestID: requestID, via: via) }
}

/// The actor and the request that every audit entry of a change names.
struct AuditContext: Sendable {
    let actor: Actor
    let requestID: String
    var via: ActingPage?
    /// The trace of the request that the task works for, which the webhooks of the change's events carry.
    var trace = RequestTrace.current?.trace
}

/// A page of Paydesk's own on which a person acts with an API key.
package enum ActingPage: String, Sendable {
    case console
}
