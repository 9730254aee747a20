/// The environment in which a purchase was made, as Apple signs it in `environment`.
public enum AppleEnvironment: String, CaseIterable, Sendable {
    case production = "Production"
    case sandbox = "Sandbox"
    /// Xcode's local StoreKit; also for `LocalTesting`, Apple's name for its own unit tests.
    case xcode = "Xcode"

    /// - Returns: nil for a name that Apple does not use.
    public init?(appleName: String) {
        self.init(rawValue: appleName == "LocalTesting" ? "Xcode" : appleName)
    }
}
