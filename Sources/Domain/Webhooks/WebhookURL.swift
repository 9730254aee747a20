import Encodings

/// The address of a partner's endpoint; it cannot name the server's own network.
///
/// The addresses that the host resolves to are checked again at each connection; these are the rules of the text alone.
package struct WebhookURL: Hashable, Sendable {
    /// The address in the partner's own spelling.
    package let text: String
    package let address: WebAddress

    package enum Refusal: String, Error, Sendable {
        case malformed = "must be an absolute address of at most 2048 printable characters, without user information"
        case notSecure = "must be https"
        case fragment = "must have no fragment"
        case notPublic = "must name a public host"
    }

    /// - Parameter allowsPrivate: `webhooks.allow_private_networks`: http, and any host.
    package init(_ text: String, allowsPrivate: Bool) throws(Refusal) {
        guard let address = WebAddress(text), !address.host.isEmpty else { throw .malformed }
        guard address.scheme == "https" || (allowsPrivate && address.scheme == "http") else { throw .notSecure }
        guard !address.rest.contains("#") else { throw .fragment }
        guard allowsPrivate || Self.isPublic(host: address.host) else { throw .notPublic }
        self.text = text
        self.address = address
    }

    /// The host as it is resolved: an IPv6 address without its brackets.
    package var host: String {
        address.host.hasPrefix("[") ? String(address.host.dropFirst().dropLast()) : address.host
    }

    /// The address with its host exactly as it was checked, so that a lookup by host finds the checked address.
    package var dialled: String { address.origin + address.rest }

    private static let innerZones = ["localhost", "local", "internal", "intranet", "lan", "home.arpa", "onion"]

    private static func isPublic(host: String) -> Bool {
        if host.hasPrefix("[") {
            let inside = host.dropFirst().dropLast()
            return inside.contains(":") && IPAddress(String(inside))?.isPublic ?? false
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last, host.utf8.count <= 253,
            labels.allSatisfy({ (1...63).contains($0.utf8.count) })
        else { return false }
        // Some parsers read a host whose last label is a number as an address: 2130706433, 0x7f.1, 0177.0.0.1. Only the
        // plain form is accepted.
        guard !isNumber(last) else { return IPAddress(host)?.isPublic ?? false }
        return labels.count > 1 && !innerZones.contains { host == $0 || host.hasSuffix(".\($0)") }
    }

    private static func isNumber(_ label: Substring) -> Bool {
        label.hasPrefix("0x")
            ? label.utf8.dropFirst(2).allSatisfy { Hex.value($0) != nil } : label.utf8.allSatisfy(\.isDigit)
    }
}
