package import Domain
package import ProviderKit

/// Every way in which a use case can refuse; the cases are the error ids of `api.md` section 2.
package enum GatewayError: Error, Sendable, Equatable {
    case invalidRequest(field: String, reason: LocalizedText)
    case invalidNotification
    case invalidTransaction(PurchaseRefusal.Reason)
    /// A reason of `invalidTransaction`, or `transaction_not_in_receipt`.
    case invalidReceipt(String)
    case applePayTokenInvalid(InstrumentRefusal.Reason)
    /// The token has paid, or tried to pay, something else.
    case applePayTokenReused
    /// The payer agreed to another amount or currency than the order's.
    case amountMismatch
    /// No token and no key.
    case unauthenticated
    /// A token or key that is none of ours, or no longer.
    case invalidCredential(InvalidCredential)
    case forbidden
    /// Nothing stands at this path.
    case notFound
    /// No such thing, under the id that the caller gave.
    case unknown(UnknownThing, String)
    /// The path is there, for these methods only.
    case methodNotAllowed([String])
    case orderNotFound(String)
    case skuNotFound(String)
    case unknownProduct(String)
    case alreadyOwned
    case orderNotOpen
    /// Its contract or code is asked for, and nobody may pay it any more.
    case contractGone
    case purchaseBelongsToAnotherUser
    case purchaseRevoked
    case requestInProgress
    case conflict(reason: LocalizedText, resource: String? = nil)
    case payloadTooLarge
    case unsupportedMediaType
    case headersTooLarge
    case idempotencyKeyReused
    /// Nobody reads or sells what is asked for.
    case noProviderAvailable
    /// The same of a payment, with the reasons.
    case noProvider(NoProvider)
    case providerRejected(reason: String)
    case refundExceedsCaptured
    case rateLimited(retryAfter: Int64)
    case usageLimitReached(retryAfter: Int64)
    case internalError
    case providerUnavailable
    /// A call that cannot be repeated may have taken effect; what to look at before it is asked for again.
    case outcomeUnknown(LocalizedText)
    case temporarilyUnavailable(retryAfter: Int64)
    /// The run of a job has lost its lease to another worker: nothing of this transaction is kept.
    case leaseLost
    case insufficientBalance
}

/// What a caller named that is not there: `details.what` of a `not_found`.
package enum UnknownThing: String, Sendable, Equatable, CaseIterable {
    case meter, account, user, purchase, subscription, grant, webhook, delivery, notification, job, payment, contract
    case key = "api_key"
}

/// What is wrong with a token or key, as far as its holder may know.
///
/// Nothing here tells a stranger anything: what a token says is judged only once its signature has verified, and a key's id
/// is no better than its secret.
package enum InvalidCredential: Error, Sendable, Equatable {
    /// Where a user's token is needed: no JWT.
    case noToken
    /// Where an API key is needed: no key of our form.
    case noKey
    /// No such key, or not with this secret, or revoked.
    case unknownKey
    /// The signature does not verify, or was made by another algorithm than the configured one.
    case signature
    case expired
    /// A claim that is missing, or is not what the configuration asks for.
    case claim(String)
}
