import Domain
import ProviderKit

/// Reads one `providers/<account>.yaml`.
enum AccountFile {
    private static let keys = ["account", "kind", "enabled", "notify_token", "routing", "settings"]

    /// - Parameter file: the path in the folder, `providers/apple-iap.yaml`.
    /// - Returns: nil after a fault; an empty notify token stands for one that is still to be made, which only
    ///   development allows.
    static func read(
        _ node: YAMLNode, file: String, manifests: [String: ProviderManifest], _ reading: ConfigurationReading
    ) -> AccountConfiguration? {
        let root = ValueReader(node: node, place: ConfigPath(file: file), reading: reading).mapping(keys: keys)
        let id = id(root, file: file)
        let routing = RoutingSection.read(root)
        let enabled = root.boolean("enabled", default: true)
        guard let manifest = manifest(root, manifests) else { return nil }
        let token = notifyToken(root, manifest)
        let settings = SettingsReader.read(
            root.section("settings", keys: manifest.settings.fields.map(\.name)), manifest.settings)
        guard let id else { return nil }
        return AccountConfiguration(
            id: id, kind: manifest.kind, enabled: enabled, notifyToken: token, routing: routing,
            settings: ProviderSettings(settings), file: file)
    }

    /// Returns the fault of an account's name, which must be that of its file, so that faults, log lines and the folder
    /// agree.
    static func checkName(of account: AccountConfiguration, among read: [AccountConfiguration]) -> (String, String)? {
        let (name, stem) = (account.id.rawValue, stem(account.file))
        if let other = read.first(where: { $0.id == account.id }) {
            return ("is \(name), as in \(other.file)", "give each account its own name, the file's")
        }
        return name == stem ? nil : ("is \(name), but the file is named \(stem).yaml", "give both the same name")
    }

    private static func stem(_ file: String) -> String {
        String(file.split(separator: "/").last?.dropLast(".yaml".count) ?? "")
    }

    private static func id(_ root: MappingReader, file: String) -> AccountID? {
        let name = root.isGiven("account") ? root["account"]?.text() ?? "" : stem(file)
        guard let id = AccountID(name) else {
            root.fault(
                "account", "is not a name", "use small letters, digits, - and _, at most 64, in the file's name too")
            return nil
        }
        return id
    }

    private static func manifest(_ root: MappingReader, _ manifests: [String: ProviderManifest]) -> ProviderManifest? {
        let known = manifests.keys.sorted()
        guard let kind = root.requiredText("kind", "write one of \(known.joined(separator: ", "))") else { return nil }
        guard let manifest = manifests[kind] else {
            let nearest = NearestKey.suggestion(for: kind, among: known)
            root.fault(
                "kind", "is not a kind of provider that this server has",
                nearest.map { "did you mean \($0)?" } ?? "write one of \(known.joined(separator: ", "))")
            return nil
        }
        if manifest.developmentOnly, !root.reading.takesTestAccounts {
            root.fault("kind", "is \(kind), which is for development only", "remove this file in production")
        }
        return manifest
    }

    private static func notifyToken(_ root: MappingReader, _ manifest: ProviderManifest) -> String? {
        guard !manifest.notifications.isEmpty else { return nil }
        guard root.isGiven("notify_token") else {
            if !root.reading.isDevelopment {
                root.fault(
                    "notify_token", "is empty, so that notifications have no address",
                    "set it to a random text: openssl rand -hex 24")
            }
            return ""
        }
        guard let token = root["notify_token"]?.text() else { return nil }
        guard token.utf8.allSatisfy(\.isURLUnreserved), token.utf8.count <= 128, !token.allSatisfy({ $0 == "." }) else {
            root.fault("notify_token", "cannot stand in an address", "use at most 128 letters, digits and -._~")
            return nil
        }
        return token
    }
}
