import Domain
import FoundationEssentials
import Synchronization

/// The bearer tokens of one app: each is made on demand and used until shortly before its end.
///
/// Source: Apple, App Store Server API, Generating JSON Web Tokens for API requests; RFC 7515; RFC 7518 section 3.4.
final class AppStoreTokens: Sendable, CustomStringConvertible, CustomReflectable {
    /// The lifetime of a token in seconds; Apple allows an hour, and its own libraries use five minutes.
    static let lifetime: Int64 = 300
    /// The remaining lifetime in seconds below which a token is no longer used.
    static let margin: Int64 = 60

    private struct Claims: Encodable {
        let aud = "appstoreconnect-v1"
        let bid: String
        let exp: Int64
        let iat: Int64
        let iss: String
    }

    private struct Kept {
        let text: String
        let issuedAt: Timestamp
    }

    private let key: AppStoreKey
    private let bundleID: String
    private let kept = Mutex<Kept?>(nil)

    init(key: AppStoreKey, bundleID: String) {
        self.key = key
        self.bundleID = bundleID
    }

    /// Returns a valid token, and whether it was made for this call.
    func token(now: Timestamp) throws(AppStoreServerError) -> (text: String, isNew: Bool) {
        // After the clock was set back the token would be from the future, which Apple refuses.
        let usable = kept.withLock { kept in
            kept.flatMap {
                $0.issuedAt <= now && now < $0.issuedAt.adding(seconds: Self.lifetime - Self.margin) ? $0.text : nil
            }
        }
        if let usable { return (usable, false) }
        let text = try make(now)
        kept.withLock { $0 = Kept(text: text, issuedAt: now) }
        return (text, true)
    }

    /// Makes the next call use a new token.
    func forget() { kept.withLock { $0 = nil } }

    private func make(_ now: Timestamp) throws(AppStoreServerError) -> String {
        try key.token(
            Claims(
                bid: bundleID, exp: now.adding(seconds: Self.lifetime).rawValue, iat: now.rawValue, iss: key.issuerID))
    }

    var description: String { "AppStoreTokens(\(bundleID))" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
