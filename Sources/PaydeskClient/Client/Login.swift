import Foundation

/// A user's token and the user that it names.
struct Login: Sendable, Equatable {
    let token: String
    let user: String

    /// Reads the user's id from a JWT.
    ///
    /// The token is the app's own and goes to the server, which verifies it; here it only says who is logged in.
    ///
    /// - Parameter claim: the server's `auth.user_claim`.
    /// - Returns: nil where the token is no JWT with that claim.
    init?(token: String, claim: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decoded(parts[1]),
            let claims = try? JSONDecoder().decode([String: AttributeValue].self, from: payload),
            let user = claims[claim]?.text ?? claims[claim]?.integer.map(String.init), !user.isEmpty
        else { return nil }
        self.token = token
        self.user = user
    }
}

/// Base64 of JWTs: `-` and `_`, without padding.
enum Base64URL {
    static func decoded(_ text: some StringProtocol) -> Data? {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}
