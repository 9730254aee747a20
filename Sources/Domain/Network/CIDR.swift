import Encodings

/// A range of IP addresses, `10.0.0.0/8` or `fd00::/8`; an address alone is a range of one (RFC 4632 section 3.1).
package struct CIDR: Hashable, Sendable {
    private let first: IPAddress
    /// The length of the prefix, in bits (RFC 4632 section 3.1).
    private let length: Int

    /// - Returns: nil unless the text is an IPv4 or IPv6 address, optionally with a prefix length that fits it.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
        var length = address.width
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy(\.isDigit), let given = Int(parts[1]), given <= length
            else { return nil }
            length = given
        }
        self.length = length
        first = address
    }

    /// Returns whether an address lies inside; an IPv4 address inside IPv6 (`::ffff:10.0.0.1`) counts as IPv4.
    package func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        guard address.width == first.width else { return false }
        return length == 0 || (address.bits ^ first.bits) >> UInt128(address.width - length) == 0
    }
}

extension IPAddress {
    fileprivate var width: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    fileprivate var bits: UInt128 {
        switch self {
        case .v4(let bits): UInt128(bits)
        case .v6(let bits): bits
        }
    }

    /// The IPv4 address that an IPv4-mapped one stands for (RFC 4291 section 2.5.5.2); any other is itself.
    package var unmapped: IPAddress {
        guard case .v6(let bits) = self, bits >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: bits))
    }
}
