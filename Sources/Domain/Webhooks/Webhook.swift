/// A partner's endpoint for events.
package enum Webhook: Identified {
    package static let idPrefix = "whk"

    package enum Status: String, Sendable, CaseIterable {
        case enabled, disabled
    }

    /// The reason why an endpoint is disabled.
    package enum DisabledReason: String, Sendable {
        /// The endpoint answered 410 (Gone).
        case gone
        /// Every attempt has failed for ``DeliverySchedule/failingLimit``.
        case failing
        case partner
    }
}

/// An event on its way to one webhook.
package enum Delivery: Identified {
    package static let idPrefix = "dlv"

    package enum State: String, Sendable, CaseIterable {
        case pending, succeeded, failed
    }

    /// The reason why the last attempt failed, without anything of the endpoint's answer.
    package enum Fault: String, Sendable, CaseIterable {
        /// No complete answer in time.
        case timeout
        /// No connection, or it broke.
        case connection
        /// The certificate or the handshake was refused.
        case tls
        /// The host has no address.
        case name
        /// The host has an address that is not public.
        case blockedAddress = "blocked_address"
        /// An answer that is not 2xx.
        case status
        /// The webhook was disabled meanwhile.
        case disabled
        /// No key of the partner may read the event's type any more.
        case forbidden
    }
}
