package import Domain
package import ProviderKit

/// A file of `providers/`: an account of a kind, its settings checked against the kind's schema.
package struct AccountConfiguration: Sendable {
    package var id: AccountID
    package var kind: String
    package var enabled: Bool
    /// The random last part of its notify URL; nil for a kind without notifications.
    @Secret package var notifyToken: String?
    package var routing: AccountRouting
    /// Defaults filled in, paths absolute, `file:` secrets read; its descriptions show no value.
    package var settings: ProviderSettings
    /// `providers/apple-iap.yaml`.
    package var file: String
}
