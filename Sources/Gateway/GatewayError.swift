package import Domain
package import ProviderKit

/// The errors of use cases; the cases are the error ids of `docs/api.md` section 2.
///
/// The section "What a change touches" of `docs/architecture.md` lists the files that a new case changes.
package enum GatewayError: Error, Sendable, Equatable {
    case invalidRequest(field: String, reason: LocalizedText)
    case invalidNotification
    case invalidTransaction(PurchaseRefusal.Reason)
    /// A reason of `invalidTransaction`, or `transaction_not_in_receipt`.
    case invalidReceipt(String)
    case applePayTokenInvalid(InstrumentRefusal.Reason)
    /// The token was used before, for another payment.
    case applePayTokenReused
    /// The payer agreed to another amount or currency than the order's.
    case amountMismatch
    /// The request has no credentials.
    case unauthenticated
    /// The token or key is invalid, or no longer valid.
    case invalidCredential(InvalidCredential)
    case forbidden
    /// A session's token is not accepted by this call.
    case forbiddenToSessions
    /// The call takes a session's token only.
    case needsSession
    /// A call with the console's cookie that does not come from the console.
    case notFromConsole
    /// The path is unknown.
    case notFound
    /// No object with the id that the caller gave.
    case unknown(UnknownThing, String)
    /// The path is known, for these methods only.
    case methodNotAllowed([String])
    case orderNotFound(String)
    case skuNotFound(String)
    case unknownProduct(String)
    /// No SKU that is for sale names the product; nothing was kept.
    case productNotSold(String)
    /// The user is not in the audience of an offer, or has redeemed it.
    case notEligible
    case alreadyOwned
    /// A subscription of the group runs already; with the place where it is managed.
    case subscriptionRuns(ID<Subscription>, SubscriptionSnapshot.Source)
    /// The order is a renewal's, which only its subscription pays or closes.
    case belongsToSubscription(ID<Subscription>)
    /// Renewals are held, and the providers of this number of subscriptions were not asked what they charged.
    case chargesUnchecked(Int64)
    /// An act that the status of a subscription does not allow.
    case subscriptionIs(Subscription.Status, reason: LocalizedText)
    case orderNotOpen
    /// The order of a contract or QR code is not open any more.
    case contractGone
    /// The order is open, and its newest contract is too old for the wallet; another attempt makes a new one.
    case instructionExpired
    case purchaseBelongsToAnotherUser
    case purchaseRevoked
    case requestInProgress
    /// Another call moves the clock.
    case clockIsMoving
    case conflict(reason: LocalizedText, resource: String? = nil)
    /// The session can still read, but no longer order or make another attempt.
    case sessionOver
    /// The session's order was paid, so that it makes no other.
    case orderIsPaid(ID<Order>)
    case payloadTooLarge
    case unsupportedMediaType
    case headersTooLarge
    case idempotencyKeyReused
    /// No account reads such receipts or verifies such purchases.
    case noProviderAvailable
    /// No account can take the payment; with the reasons.
    case noProvider(NoProvider)
    case providerRejected(reason: String)
    case refundExceedsCaptured
    case rateLimited(retryAfter: Int64)
    case usageLimitReached(retryAfter: Int64)
    case internalError
    case providerUnavailable
    /// A call that cannot be repeated may have taken effect; the text names what to check before a repetition.
    case outcomeUnknown(LocalizedText)
    case temporarilyUnavailable(retryAfter: Int64)
    /// The run of a job has lost its lease to another worker; its transaction is rolled back.
    case leaseLost
    case insufficientBalance
    /// A dry run, whose transaction is rolled back on purpose; never an answer.
    case dryRun
}

/// The kind of an unknown object: `details.what` of a `not_found`.
package enum UnknownThing: String, Sendable, Equatable, CaseIterable {
    case meter, account, user, purchase, subscription, grant, webhook, delivery, notification, job, payment, contract
    case session, offer
    case key = "api_key"
    case externalToken = "external_token"
}

/// The fault of a token or key.
///
/// It reveals nothing to a forger: a token's claims are checked only after its signature, and an unknown key id is
/// refused like a wrong secret.
package enum InvalidCredential: Error, Sendable, Equatable {
    /// No JWT where a user's token is required.
    case noToken
    /// No key in Paydesk's form where an API key is required.
    case noKey
    /// An unknown or revoked key, or a wrong secret.
    case unknownKey
    /// A session's token that was never issued, or whose session is no longer stored.
    case unknownSession
    /// A session's token that has ended.
    case sessionExpired
    /// A cookie of the console without a session, or whose session is over.
    case noConsoleSession
    /// A key, or a link of the start, that does not sign anybody in.
    case noSignIn
    /// The signature is wrong or uses another algorithm than the configured one.
    case signature
    case expired
    /// A claim that is missing or differs from the configuration.
    case claim(String)
}
