package import Domain
import FoundationEssentials
import Store

/// The codes of forms, by which a page's form is told from one of another page.
///
/// A code is base64url of an HMAC-SHA256 over the session's id and its token.
package struct FormCodes: Sendable {
    let keyRing: KeyRing

    private static let purpose = "paydesk.csrf"

    package func code(_ session: ID<Session>, token: String) -> String {
        Base64URL.encoded(keyRing.authenticationCode(of: Self.message(session, token), purpose: Self.purpose))
    }

    /// Returns whether the code is the session's, under any of the configured keys.
    package func accepts(_ code: String, _ session: ID<Session>, token: String) -> Bool {
        guard let bytes = Base64URL.decoded(code, limit: 64) else { return false }
        return keyRing.isAuthentic(Data(bytes), of: Self.message(session, token), purpose: Self.purpose)
    }

    private static func message(_ session: ID<Session>, _ token: String) -> Data {
        Data("\(session.rawValue)\n\(token)".utf8)
    }
}

extension Gateway {
    package var formCodes: FormCodes { FormCodes(keyRing: keyRing) }
}
