package import AppStoreBox

/// The App Store in a box that a server runs, with the app whose purchases it sells.
package struct ServedBox: Sendable {
    let authority: BoxAuthority
    /// The bundle id of the account's first app.
    let bundleID: String

    package init(authority: BoxAuthority, bundleID: String) {
        self.authority = authority
        self.bundleID = bundleID
    }
}
