import Encodings

/// An absolute address, read strictly: text that two parsers could understand differently is refused.
///
/// Only printable ASCII without quotes, angle brackets and backslashes, at most 2,048 bytes, no user information.
/// Scheme and host are kept in lower case, and a scheme's default port is filled in.
package struct WebAddress: Hashable, Sendable {
    package static let lengthLimit = 2_048

    /// The scheme in lower case, without the colon.
    package let scheme: String
    /// The host in lower case; an IPv6 address keeps its brackets.
    ///
    /// Empty where the address has no `//`.
    package let host: String
    /// The port, with the scheme's default filled in; nil where the scheme has no default and the address names none.
    package let port: UInt16?
    /// Everything after the authority: path, query and fragment as written.
    package let rest: String

    /// - Returns: nil for a relative address and for text that parsers read differently.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.lengthLimit, bytes.allSatisfy(Self.isAllowed), let colon = bytes.firstIndex(of: 0x3A),
            let scheme = Self.scheme(bytes[..<colon])
        else { return nil }
        self.scheme = scheme
        let tail = bytes[(colon + 1)...]
        guard tail.starts(with: [0x2F, 0x2F]) else {
            guard !Self.isWeb(scheme) else { return nil }
            (host, port) = ("", nil)
            rest = String(decoding: tail, as: UTF8.self)
            return
        }
        let authority = tail.dropFirst(2).prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
        guard let (host, port) = Self.hostAndPort(authority) else { return nil }
        guard !host.isEmpty || (!Self.isWeb(scheme) && port == nil) else { return nil }
        self.host = host
        self.port = port ?? Self.defaultPorts[scheme]
        rest = String(decoding: tail.dropFirst(2 + authority.count), as: UTF8.self)
    }

    /// `http` or `https`: a page, not an app.
    package var isWeb: Bool { Self.isWeb(scheme) }

    /// Scheme, host and port as a browser writes them in `Origin`.
    package var origin: String {
        let shown = port == Self.defaultPorts[scheme] ? nil : port
        return "\(scheme)://\(host)" + (shown.map { ":\($0)" } ?? "")
    }

    /// Returns true where the host is this domain or a subdomain of it.
    ///
    /// - Parameter domain: in lower case.
    package func isAt(_ domain: String) -> Bool {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        return name == domain || name.hasSuffix("." + domain)
    }

    /// True where the host is this machine: `localhost`, 127.0.0.0/8 or ::1.
    package var isLoopback: Bool { Self.isLoopback(host: host) }

    /// - Parameter host: a name or an address; IPv6 with or without brackets.
    package static func isLoopback(host: String) -> Bool {
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        let isIPv4 = octets.count == 4 && octets.allSatisfy { UInt8($0) != nil }
        return (isIPv4 && octets[0] == "127") || ["localhost", "::1", "[::1]"].contains(host.lowercased())
    }

    private static let defaultPorts: [String: UInt16] = ["http": 80, "https": 443]

    private static func isWeb(_ scheme: String) -> Bool { defaultPorts[scheme] != nil }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isVisible && ![0x22, 0x3C, 0x3E, 0x5C, 0x60].contains(byte)
    }

    /// RFC 3986 section 3.1: a letter, then letters, digits, `+`, `-`, `.`.
    private static func scheme(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let first = bytes.first, first.isLetter, bytes.count <= 64,
            bytes.allSatisfy({ $0.isLetterOrDigit || [0x2B, 0x2D, 0x2E].contains($0) })
        else { return nil }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }

    /// - Returns: nil for user information, percent-encoding, an empty port or one out of range.
    private static func hostAndPort(_ authority: ArraySlice<UInt8>) -> (host: String, port: UInt16?)? {
        var host = authority
        var port: ArraySlice<UInt8>?
        if authority.first == 0x5B {
            guard let end = authority.firstIndex(of: 0x5D) else { return nil }
            host = authority[...end]
            let after = authority[(end + 1)...]
            guard after.isEmpty || after.first == 0x3A else { return nil }
            port = after.isEmpty ? nil : after.dropFirst()
            let inside = host.dropFirst().dropLast()
            guard inside.count >= 2,
                inside.allSatisfy({ Hex.value($0) != nil || $0 == 0x3A || $0 == 0x2E })
            else { return nil }
        } else {
            if let colon = authority.firstIndex(of: 0x3A) {
                host = authority[..<colon]
                port = authority[(colon + 1)...]
            }
            guard host.allSatisfy({ $0.isWord || [0x2D, 0x2E].contains($0) }) else {
                return nil
            }
        }
        let name = String(decoding: host, as: UTF8.self).lowercased()
        guard let port else { return (name, nil) }
        guard !port.isEmpty, port.count <= 5, port.allSatisfy(\.isDigit),
            let number = UInt16(String(decoding: port, as: UTF8.self)), number > 0
        else { return nil }
        return (name, number)
    }
}
