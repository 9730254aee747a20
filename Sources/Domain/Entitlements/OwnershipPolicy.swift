/// The rule for a store purchase without an account token that a second user claims (`domain.md` section 6).
package enum OwnershipPolicy: String, Sendable, CaseIterable {
    /// The first owner keeps it.
    case keep
    /// The new user gets it after a cool-down, and the old one loses it.
    case transfer
    /// Like `transfer`, but only once the purchase no longer runs; grace and billing retry count as running.
    case transferIfInactive = "transfer_if_inactive"
    /// Up to a number of users own it, with one grant each.
    case share
}

/// The ownership policy with its limits.
package struct OwnershipRules: Sendable, Equatable {
    package var policy: OwnershipPolicy
    /// The most users of one purchase with `share`, its owner among them.
    package var shareLimit: Int64
    /// The age in days that a binding must have before `transfer` moves it; 0 for none.
    package var cooldownDays: Int64

    package init(policy: OwnershipPolicy = .keep, shareLimit: Int64 = 5, cooldownDays: Int64 = 5) {
        self.policy = policy
        self.shareLimit = shareLimit
        self.cooldownDays = cooldownDays
    }

    /// Returns whether a purchase that was bound at that time may move now; false where the clock went back.
    package func mayMove(boundAt: Timestamp, now: Timestamp) -> Bool { boundAt.adding(days: cooldownDays) <= now }
}
