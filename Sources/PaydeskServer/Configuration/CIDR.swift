import Foundation

/// A range of IP addresses, `10.0.0.0/8` or `fd00::/8`; an address alone is a range of one.
package struct CIDR: Hashable, Sendable {
    /// 4 or 16 bytes, the host's bits cleared.
    private let network: [UInt8]
    private let length: Int

    /// - Returns: nil unless the text is an IPv4 or IPv6 address, optionally with a prefix length that fits it.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let bytes = Self.bytes(String(first)) else { return nil }
        var length = bytes.count * 8
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let given = Int(parts[1]), given <= length
            else {
                return nil
            }
            length = given
        }
        self.length = length
        network = Self.masked(bytes, length)
    }

    /// Whether an address lies inside; an IPv4 address inside IPv6 (`::ffff:10.0.0.1`) counts as IPv4.
    package func contains(_ address: String) -> Bool {
        guard let bytes = Self.bytes(String(address.prefix { $0 != "%" })) else { return false }
        let plain = bytes.starts(with: Self.mappedPrefix) && bytes.count == 16 ? Array(bytes.suffix(4)) : bytes
        return plain.count == network.count && Self.masked(plain, length) == network
    }

    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    private static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = max(0, min(8, length - index * 8))
            return byte & ~(kept == 8 ? 0 : UInt8.max >> kept)
        }
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= 45, !text.contains("\0") else { return nil }
        let isIPv6 = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        return inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &bytes) == 1 ? bytes : nil
    }
}
