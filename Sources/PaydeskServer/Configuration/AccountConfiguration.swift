package import Domain
package import ProviderKit

/// A file of `providers/`: an account of a kind, its settings checked against the kind's schema.
package struct AccountConfiguration: Sendable {
    package var id: AccountID
    package var kind: String
    package var enabled: Bool
    /// The random last part of the account's notify URL; nil for a kind without notifications.
    @Secret package var notifyToken: String?
    package var routing: AccountRouting
    /// The settings with defaults filled in, absolute paths and the contents of `file:` secrets; descriptions show no
    /// value.
    package var settings: ProviderSettings
    /// The file's path in the folder, `providers/apple-iap.yaml`.
    package var file: String
}
