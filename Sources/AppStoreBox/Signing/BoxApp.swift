/// The app whose purchases the box sells: the account's first app.
package struct BoxApp: Sendable, Equatable {
    package let bundleID: String
    /// The app's number in the App Store; nil where the account has none.
    package let appAppleID: Int64?

    package init(bundleID: String, appAppleID: Int64? = nil) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
    }
}

/// Apple's name of the environment in which the box signs.
let boxEnvironment = "Sandbox"
