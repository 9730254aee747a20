package import Domain
package import FoundationEssentials

/// The use of a group's trial, by a user or by a means of payment; it names neither, so it outlives an erasure.
package struct TrialClaim: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case user, instrument
    }

    package let environment: Environment
    package let group: String
    package let kind: Kind
    /// The HMAC of the user's id, or of the provider's fingerprint of the instrument, by each key of the ring, the newest
    /// first: a claim is stored with the first and found by any.
    package let digests: [Data]

    package init(environment: Environment, group: String, kind: Kind, digests: [Data]) {
        self.environment = environment
        self.group = group
        self.kind = kind
        self.digests = digests
    }
}
