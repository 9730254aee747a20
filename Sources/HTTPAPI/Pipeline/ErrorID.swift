import HTTPTypes

/// The stable id of an error, from the closed list of `docs/api.md` section 2.
enum ErrorID: String, Sendable, CaseIterable {
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

    /// The HTTP status of answers with this id.
    var status: HTTPResponse.Status {
        switch self {
        case .invalidRequest, .invalidNotification, .invalidTransaction, .invalidReceipt, .applePayTokenInvalid:
            .badRequest
        case .unauthenticated: .unauthorized
        case .forbidden: .forbidden
        case .unknownProduct, .notFound, .orderNotFound, .skuNotFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .applePayTokenReused, .amountMismatch, .purchaseBelongsToAnotherUser, .purchaseRevoked, .alreadyOwned,
            .orderNotOpen, .requestInProgress, .conflict, .insufficientBalance:
            .conflict
        case .payloadTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .headersTooLarge: .requestHeaderFieldsTooLarge
        case .idempotencyKeyReused, .noProviderAvailable, .providerRejected, .refundExceedsCaptured:
            .unprocessableContent
        case .rateLimited, .usageLimitReached: .tooManyRequests
        case .internalError: .internalServerError
        case .providerUnavailable: .badGateway
        case .temporarilyUnavailable: .serviceUnavailable
        }
    }
}
