/// The headers of the pages.
package struct PagePolicy: Sendable {
    /// The content security policy (CSP level 3) of pages that load nothing foreign.
    private static let strict = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
        form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
        """
    /// The policy of the cashier where Stripe.js may run.
    private static let cards = """
        default-src 'none'; script-src 'self' https://js.stripe.com https://*.js.stripe.com; style-src 'self'; \
        img-src 'self' https://*.stripe.com; connect-src 'self' https://api.stripe.com; \
        frame-src https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com; base-uri 'none'; \
        form-action 'self'; frame-ancestors 'none'
        """

    /// The policy of the documentation, whose script loads what it searches.
    private static let documentation = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types docs
        """

    package enum Page: Sendable {
        case cashier
        /// A cashier in which Stripe can take a card.
        case cardCashier
        /// A page of the documentation; its caching is not decided here.
        case documentation
        case other
    }

    let isHTTPS: Bool

    /// - Parameter publicURL: the server's own address.
    package init(publicURL: String) { isHTTPS = publicURL.hasPrefix("https://") }

    package func headers(of page: Page) -> [(name: String, value: String)] {
        let isCashier = page == .cashier || page == .cardCashier
        let policy =
            switch page {
            case .cardCashier: Self.cards
            case .documentation: Self.documentation
            case .cashier, .other: Self.strict
            }
        var headers = [
            ("Content-Security-Policy", policy),
            // `no-referrer` would give the page's own forms `Origin: null`.
            ("Referrer-Policy", "strict-origin"), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
            ("X-Robots-Tag", "noindex"),
            ("Cross-Origin-Opener-Policy", isCashier ? "same-origin-allow-popups" : "same-origin"),
            ("Permissions-Policy", isCashier ? #"payment=(self "https://js.stripe.com")"# : "payment=()"),
            ("Vary", "Accept-Encoding, Accept-Language"),
        ]
        if page != .documentation { headers.append(("Cache-Control", "no-store")) }
        if isHTTPS { headers.append(("Strict-Transport-Security", "max-age=31536000")) }
        return headers
    }
}
