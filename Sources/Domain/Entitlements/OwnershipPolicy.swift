/// Who owns a store purchase that is claimed by a second user and names nobody (`domain.md` section 6).
package enum OwnershipPolicy: String, Sendable, CaseIterable {
    /// The first owner keeps it.
    case keep
    /// The new one gets it after a cool-down, the old one loses it.
    case transfer
    /// As `transfer`, but only once it no longer runs; grace and billing retry count as running.
    case transferIfInactive = "transfer_if_inactive"
    /// Up to a number of users own it, one grant each.
    case share
}
