import Encodings

/// An IP address as a number, so that no two spellings of it can be judged differently.
package enum IPAddress: Hashable, Sendable {
    case v4(UInt32)
    case v6(UInt128)

    /// Reads the one canonical form of IPv4 (four decimal numbers) or any form of RFC 4291 section 2.2 for IPv6.
    ///
    /// - Returns: nil for shorter, hexadecimal and octal forms of IPv4, for brackets, and for a zone.
    package init?(_ text: String) {
        if text.contains(":") {
            guard let bits = Self.v6(text) else { return nil }
            self = .v6(bits)
        } else {
            guard let bits = Self.v4(text) else { return nil }
            self = .v4(bits)
        }
    }

    private static func v4(_ text: some StringProtocol) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy(\.isDigit),
                part == "0" || part.first != "0", let octet = UInt8(part)
            else { return nil }
            bits = bits << 8 | UInt32(octet)
        }
        return bits
    }

    private static func v6(_ text: String) -> UInt128? {
        guard text.utf8.count <= 45 else { return nil }
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2, let head = groups(halves[0], isLast: halves.count == 1) else { return nil }
        guard halves.count == 2 else { return head.count == 8 ? number(head) : nil }
        guard let tail = groups(halves[1], isLast: true), head.count + tail.count <= 7 else { return nil }
        return number(head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail)
    }

    /// The 16-bit groups between colons; the last two may be written as an IPv4 address.
    private static func groups(_ text: Substring, isLast: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if part.contains(".") {
                guard isLast, index == parts.count - 1, let bits = v4(part) else { return nil }
                groups += [UInt16(truncatingIfNeeded: bits >> 16), UInt16(truncatingIfNeeded: bits)]
            } else {
                guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ Hex.value($0) != nil }),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups
    }

    private static func number(_ groups: [UInt16]) -> UInt128 { groups.reduce(0) { $0 << 16 | UInt128($1) } }
}

extension IPAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .v4(let bits):
            [24, 16, 8, 0].map { String(bits >> UInt32($0) & 255) }.joined(separator: ".")
        case .v6(let bits):
            (0..<8).map { String(bits >> UInt128(112 - 16 * $0) & 0xFFFF, radix: 16) }.joined(separator: ":")
        }
    }
}

extension IPAddress {
    /// The part that names one customer of a network: an address of IPv4, the first 64 bits of one of IPv6 (RFC 6177).
    package var source: IPAddress {
        switch self {
        case .v4: self
        case .v6(let bits): .v6((bits >> 64) << 64)
        }
    }

    private struct Network {
        let bits: UInt128
        let length: Int

        func holds(_ address: UInt128, width: Int) -> Bool { (address ^ bits) >> UInt128(width - length) == 0 }
    }

    /// True where any host on the Internet may have this address: outside of IANA's special-purpose registries (RFC 6890),
    /// of multicast and of one cloud's machine agent; of IPv6 only inside of 2000::/3.
    ///
    /// Forms that carry an IPv4 address inside (mapped, NAT64, 6to4, Teredo) are never public: the IPv4 address can be
    /// named directly.
    package var isPublic: Bool {
        switch self {
        case .v4(let bits): !Self.special4.contains { $0.holds(UInt128(bits), width: 32) }
        case .v6(let bits):
            Self.globalUnicast.holds(bits, width: 128) && !Self.special6.contains { $0.holds(bits, width: 128) }
        }
    }

    private static func v4(_ a: UInt128, _ b: UInt128, _ c: UInt128, _ length: Int) -> Network {
        Network(bits: a << 24 | b << 16 | c << 8, length: length)
    }

    /// IANA's special-purpose registry of IPv4, multicast, and the address of one cloud's machine agent.
    private static let special4 = [
        v4(0, 0, 0, 8), v4(10, 0, 0, 8), v4(100, 64, 0, 10), v4(127, 0, 0, 8), v4(169, 254, 0, 16), v4(172, 16, 0, 12),
        v4(192, 0, 0, 24), v4(192, 0, 2, 24), v4(192, 31, 196, 24), v4(192, 52, 193, 24), v4(192, 88, 99, 24),
        v4(192, 168, 0, 16), v4(192, 175, 48, 24), v4(198, 18, 0, 15), v4(198, 51, 100, 24), v4(203, 0, 113, 24),
        v4(224, 0, 0, 4), v4(240, 0, 0, 4), Network(bits: 168 << 24 | 63 << 16 | 129 << 8 | 16, length: 32),
    ]

    /// 2000::/3, the only part of IPv6 that is given out for use on the Internet.
    private static let globalUnicast = Network(bits: 0x2000 << 112, length: 3)

    /// The ranges inside 2000::/3 that are not public: protocol assignments with Teredo, documentation, 6to4.
    private static let special6 = [
        Network(bits: 0x2001 << 112, length: 23), Network(bits: 0x2001_0DB8 << 96, length: 32),
        Network(bits: 0x2002 << 112, length: 16), Network(bits: 0x2620_004F_8000 << 80, length: 48),
        Network(bits: 0x3FFF << 112, length: 20),
    ]
}
