import Crypto
import Domain
import FoundationEssentials

/// Signs JSON as the App Store does: compact JWS with ES256 and the box's chain in `x5c` (RFC 7515).
///
/// Source: Apple, App Store Server API, JWSDecodedHeader.
package struct BoxSigner: Sendable {
    package let app: BoxApp
    private let key: P256.Signing.PrivateKey
    /// The encoded header with the dot behind it: the same for every payload.
    private let header: String

    private struct Header: Encodable {
        let alg = "ES256"
        let x5c: [String]
    }

    package init(_ authority: BoxAuthority, app: BoxApp) throws(BoxAuthorityError) {
        self.app = app
        key = try authority.storeKey()
        let chain = [authority.store.leaf, authority.store.intermediate, authority.store.root]
        do {
            header = "\(Base64URL.encoded(try JSONText.encoded(Header(x5c: chain.map(Base64.encode)))))."
        } catch {
            throw .damaged
        }
    }

    /// Signs a payload.
    ///
    /// - Throws: `damaged` for a payload that JSON cannot say.
    func sign(_ payload: some Encodable) throws(BoxAuthorityError) -> String {
        do {
            let input = header + Base64URL.encoded(try JSONText.encoded(payload))
            return "\(input).\(Base64URL.encoded(try key.signature(for: Data(input.utf8)).rawRepresentation))"
        } catch {
            throw .damaged
        }
    }
}
