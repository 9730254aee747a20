/// A call that did not succeed.
public enum PaydeskError: Error, Sendable, Equatable {
    /// The server's refusal.
    case refused(Refusal)
    /// No answer came: no network, a lost connection, a time-out. The text is the system's.
    case noAnswer(String)
    /// The answer is not Paydesk's: a proxy's, a captive portal's, or damaged.
    case foreignAnswer(status: Int)
    /// No user is logged in: the app's token function threw.
    case loggedOut

    /// The seconds that the server asked to wait for.
    var retryAfter: Int64? {
        if case .refused(let refusal) = self { refusal.retryAfter } else { nil }
    }

    /// True where the same call may succeed later without any change.
    var isTemporary: Bool {
        switch self {
        case .refused(let refusal):
            refusal.status == 429 && refusal.error != .usageLimitReached || refusal.status >= 500
                || refusal.error == .requestInProgress
        case .noAnswer, .foreignAnswer: true
        case .loggedOut: false
        }
    }
}

/// An error answer of the server (`api.md` section 2).
public struct Refusal: Sendable, Equatable {
    public let status: Int
    /// The error's id; nil for one that this version does not know.
    public let error: ErrorID?
    /// The error's id as the server wrote it.
    public let id: String
    /// The server's words for people, in the client's language.
    public let message: String
    public let requestID: String?
    public let details: [String: AttributeValue]
    /// Seconds.
    public let retryAfter: Int64?
}

/// The stable id of an error, from the closed list of `api.md` section 2.
public enum ErrorID: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    case invalidNotification = "invalid_notification"
    case invalidTransaction = "invalid_transaction"
    case invalidReceipt = "invalid_receipt"
    case applePayTokenInvalid = "apple_pay_token_invalid"
    case unauthenticated
    case forbidden
    case unknownProduct = "unknown_product"
    case notFound = "not_found"
    case orderNotFound = "order_not_found"
    case skuNotFound = "sku_not_found"
    case methodNotAllowed = "method_not_allowed"
    case applePayTokenReused = "apple_pay_token_reused"
    case amountMismatch = "amount_mismatch"
    case purchaseBelongsToAnotherUser = "purchase_belongs_to_another_user"
    case purchaseRevoked = "purchase_revoked"
    case alreadyOwned = "already_owned"
    case orderNotOpen = "order_not_open"
    case requestInProgress = "request_in_progress"
    case conflict
    case insufficientBalance = "insufficient_balance"
    case payloadTooLarge = "payload_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case headersTooLarge = "headers_too_large"
    case idempotencyKeyReused = "idempotency_key_reused"
    case noProviderAvailable = "no_provider_available"
    case providerRejected = "provider_rejected"
    case refundExceedsCaptured = "refund_exceeds_captured"
    case rateLimited = "rate_limited"
    case usageLimitReached = "usage_limit_reached"
    case internalError = "internal_error"
    case providerUnavailable = "provider_unavailable"
    case temporarilyUnavailable = "temporarily_unavailable"
}
