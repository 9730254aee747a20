import Gateway
import ProviderKit

/// Apple's `status` of `verifyReceipt`, with the errors to which it corresponds.
///
/// Source: Apple, verifyReceipt, status.
struct VerifyReceiptStatus: Equatable, Sendable {
    let rawValue: Int64
    /// True where sending the same request again may help (`is-retryable`).
    var isRetryable = false

    static let valid = VerifyReceiptStatus(rawValue: 0)
    static let notPost = VerifyReceiptStatus(rawValue: 21_000)
    static let malformed = VerifyReceiptStatus(rawValue: 21_002)
    static let notAuthentic = VerifyReceiptStatus(rawValue: 21_003)
    static let wrongSecret = VerifyReceiptStatus(rawValue: 21_004)
    static let unavailable = VerifyReceiptStatus(rawValue: 21_005, isRetryable: true)
    static let dataAccess = VerifyReceiptStatus(rawValue: 21_009, isRetryable: true)
    /// No account reads receipts; an operator has to configure one.
    static let notConfigured = VerifyReceiptStatus(rawValue: 21_100)
    static let other = VerifyReceiptStatus(rawValue: 21_199)
}

extension VerifyReceiptStatus {
    init(_ error: GatewayError) {
        switch error {
        case .invalidReceipt(PurchaseRefusal.Reason.malformed.rawValue): self = .malformed
        case .invalidReceipt, .invalidTransaction: self = .notAuthentic
        case .invalidRequest, .payloadTooLarge, .unsupportedMediaType, .headersTooLarge: self = .malformed
        case .unauthenticated, .invalidCredential, .forbidden, .forbiddenToSessions, .needsSession,
            .notFromConsole:
            self = .wrongSecret
        case .rateLimited, .temporarilyUnavailable, .leaseLost, .requestInProgress, .clockIsMoving,
            .providerUnavailable:
            self = .unavailable
        case .internalError, .dryRun: self = .dataAccess
        case .noProviderAvailable, .noProvider: self = .notConfigured
        case .invalidNotification, .notFound, .unknown, .methodNotAllowed, .orderNotFound, .skuNotFound,
            .unknownProduct, .productNotSold, .notEligible, .alreadyOwned, .subscriptionRuns, .belongsToSubscription,
            .subscriptionIs,
            .chargesUnchecked,
            .orderNotOpen, .contractGone, .instructionExpired, .purchaseBelongsToAnotherUser, .purchaseRevoked,
            .conflict, .sessionOver,
            .orderIsPaid,
            .idempotencyKeyReused,
            .providerRejected, .refundExceedsCaptured, .usageLimitReached, .outcomeUnknown, .insufficientBalance,
            .applePayTokenInvalid, .applePayTokenReused, .amountMismatch:
            self = .other
        }
    }
}
