/// The environment in which a purchase was made, as Apple signs it in `environment`.
public enum AppleEnvironment: String, CaseIterable, Sendable {
    case production = "Production"
    case sandbox = "Sandbox"
    /// Xcode's local StoreKit. `LocalTesting`, Apple's word for its own unit tests, counts as this one.
    case xcode = "Xcode"

    /// - Returns: nil for a word that Apple does not use.
    public init?(appleName: String) {
        self.init(rawValue: appleName == "LocalTesting" ? "Xcode" : appleName)
    }
}
