/// The addresses to which a payer may be sent back after paying: the `return_url` of a checkout.
package struct ReturnURLRules: Hashable, Sendable {
    /// An entry of `http.return_urls`.
    package enum Rule: Hashable, Sendable {
        /// Every address of one scheme, host and port.
        case origin(WebAddress)
        /// Every address of an app's own scheme, in lower case.
        case appScheme(String)

        /// Reads `https://app.example`, `http://127.0.0.1:3000`, `myapp:` or `myapp://`.
        ///
        /// - Returns: nil for a path, a wildcard, and the schemes that run code or open files.
        package init?(_ text: String) {
            guard let address = WebAddress(text) else { return nil }
            if address.isWeb {
                guard address.rest.isEmpty || address.rest == "/", let origin = WebAddress(address.origin) else {
                    return nil
                }
                self = .origin(origin)
            } else {
                guard ReturnURLRules.isAppScheme(address.scheme), address.host.isEmpty, address.rest.isEmpty else {
                    return nil
                }
                self = .appScheme(address.scheme)
            }
        }

        fileprivate func allows(_ address: WebAddress) -> Bool {
            switch self {
            case .origin(let origin): address.isWeb && address.origin == origin.origin
            case .appScheme(let scheme): address.scheme == scheme
            }
        }
    }

    /// nil allows every http, https and app address.
    private let rules: [Rule]?

    /// Allows only the addresses that one of these rules names.
    package init(_ rules: [Rule]) { self.rules = rules }

    private init() { rules = nil }

    /// Allows every http, https and app address: the meaning of an empty list in development.
    package static let anything = ReturnURLRules()

    /// Returns whether a checkout may name this address; an address that is not parsed strictly is refused.
    package func allows(_ url: String) -> Bool {
        guard let address = WebAddress(url), address.isWeb || Self.isAppScheme(address.scheme) else { return false }
        guard let rules else { return true }
        return rules.contains { $0.allows(address) }
    }

    /// Schemes that browsers or phones execute, show inline, or hand to something else than the merchant's app.
    private static let refusedSchemes: Set<String> = [
        "about", "blob", "chrome", "content", "data", "file", "filesystem", "ftp", "http", "https", "intent", "jar",
        "javascript", "mailto", "resource", "sms", "tel", "vbscript", "view-source", "ws", "wss",
    ]

    private static func isAppScheme(_ scheme: String) -> Bool { !refusedSchemes.contains(scheme) }
}
