import Crypto
import FoundationEssentials
import ProviderKit

/// The shared secrets of an account's apps, by bundle id; descriptions do not show them.
struct SharedSecrets: Sendable, CustomStringConvertible, CustomReflectable {
    private let secrets: [String: String]

    init(_ settings: ProviderSettings) {
        let apps = settings.objects("apps").map { ($0.text("bundle_id"), $0.text("shared_secret")) }
        secrets = Dictionary(apps) { first, _ in first }.filter { !$0.value.isEmpty }
    }

    subscript(bundleID: String) -> String? { secrets[bundleID] }

    /// Returns the apps with this secret; digests are compared, so that the time reveals nothing about a secret.
    func apps(with secret: String) -> Set<String> {
        let given = SHA256.hash(data: Data(secret.utf8))
        return Set(secrets.filter { SHA256.hash(data: Data($0.value.utf8)) == given }.keys)
    }

    var description: String { "SharedSecrets(\(secrets.count))" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
