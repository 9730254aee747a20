import ProviderKit

/// Why a notification was not taken.
enum NotificationRefusal: Error, Sendable, Equatable {
    /// It is not believed, and sending it again would not help.
    case unproven(UnprovenReason)
    /// Nobody can tell now; the provider should send it again.
    case unavailable

    init(_ error: ProviderError) {
        switch error {
        case .unavailable, .outcomeUnknown: self = .unavailable
        case .unproven(let reason): self = .unproven(reason)
        // Genuine, and not to be understood.
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
