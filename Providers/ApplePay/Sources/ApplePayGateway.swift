import Domain

/// Apple's hosts for merchant sessions.
///
/// Source: Apple, Apple Pay on the Web, Setting Up Your Server; the numbered names are from its earlier editions, which
/// older systems still send.
enum ApplePayGateway {
    static let standard = "https://apple-pay-gateway.apple.com"
    static let path = "/paymentservices/paymentSession"

    private static let current: Set<String> = [
        "apple-pay-gateway.apple.com", "cn-apple-pay-gateway.apple.com", "apple-pay-gateway-cert.apple.com",
        "cn-apple-pay-gateway-cert.apple.com",
    ]

    private static let earlier: Set<String> = {
        let pods = [
            ("apple-pay-gateway-nc", 5), ("apple-pay-gateway-pr", 5), ("cn-apple-pay-gateway-sh", 3),
            ("cn-apple-pay-gateway-tj", 3),
        ]
        return Set(
            pods.flatMap { name, count in
                (1...count).flatMap { ["\(name)-pod\($0).apple.com", "\(name)-pod\($0)-dr.apple.com"] }
            })
    }()

    /// Returns whether an account may use this gateway in production.
    static func isConfigurable(_ text: String) -> Bool {
        guard let address = address(text), ["", "/"].contains(address.rest) else { return false }
        return current.contains(address.host)
    }

    /// Returns whether this address can be Apple's: https on one of the hosts, with the standard port.
    static func isKnown(_ text: String) -> Bool {
        address(text).map { current.contains($0.host) || earlier.contains($0.host) } ?? false
    }

    private static func address(_ text: String) -> WebAddress? {
        guard let address = WebAddress(text), address.scheme == "https", address.port == 443 else { return nil }
        return address
    }
}
