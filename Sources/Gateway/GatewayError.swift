import Domain

/// Every way in which a use case can refuse; the cases are the error ids of `api.md` section 2.
package enum GatewayError: Error, Sendable, Equatable {
    case invalidRequest(field: String, reason: String)
    case invalidNotification
    case unauthenticated
    case forbidden
    case notFound
    case orderNotFound(String)
    case skuNotFound(String)
    case alreadyOwned
    case orderNotOpen
    case requestInProgress
    case conflict(reason: String, resource: String? = nil)
    case payloadTooLarge
    case unsupportedMediaType
    case headersTooLarge
    case idempotencyKeyReused
    case noProviderAvailable
    case providerRejected(reason: String)
    case refundExceedsCaptured
    case rateLimited(retryAfter: Int64)
    case usageLimitReached(retryAfter: Int64)
    case internalError
    case providerUnavailable
    case temporarilyUnavailable(retryAfter: Int64)
}
