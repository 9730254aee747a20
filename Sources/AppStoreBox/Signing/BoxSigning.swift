/// The keys of one authority, opened once: signs what the box sells, and checks what callers of its server API send.
package struct BoxSigning: Sendable {
    package let app: BoxApp
    package let payloads: BoxSigner
    let check: ReceiptCheck
    let tokens: TokenCheck

    /// - Throws: `damaged` for an authority whose keys or roots cannot be used.
    package init(_ authority: BoxAuthority, app: BoxApp) throws(BoxAuthorityError) {
        self.app = app
        payloads = try BoxSigner(authority, app: app)
        check = try ReceiptCheck(authority, app: app)
        tokens = TokenCheck(
            keyID: authority.keyID, issuerID: authority.issuerID, bundleID: app.bundleID, key: try authority.tokenKey())
    }

    package var receipts: ReceiptSigner { check.signer }
}
