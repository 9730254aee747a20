import ProviderKit

/// The reason why a notification was not accepted.
enum NotificationRefusal: Error, Sendable, Equatable {
    /// The notification does not verify, and sending it again would not help.
    case unproven(UnprovenReason)
    /// The notification cannot be verified now; the provider should send it again.
    case unavailable

    init(_ error: ProviderError) {
        switch error {
        case .unavailable, .outcomeUnknown: self = .unavailable
        case .unproven(let reason): self = .unproven(reason)
        // The notification is genuine, but cannot be decoded.
        case .rejected, .unfit: self = .unproven(.unreadable)
        case .unsupported: self = .unproven(.unsupported)
        }
    }

    var gatewayError: GatewayError {
        switch self {
        case .unproven: .invalidNotification
        case .unavailable: .temporarilyUnavailable(retryAfter: 5)
        }
    }
}
