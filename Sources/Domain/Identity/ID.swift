import Encodings

/// A kind of object that an ``ID`` names; the id's prefix shows the kind.
public protocol Identified {
    /// Three letters, `ord`.
    static var idPrefix: String { get }
}

/// A typed identifier: a prefix and a UUIDv7 (RFC 9562 section 5.7) in 26 characters of lower-case Crockford base 32.
///
/// Sorts by the time of its making and has at most 30 characters, so that it can be a provider's order number.
public struct ID<Subject: Identified>: Hashable, Sendable {
    public let rawValue: String

    /// - Returns: nil unless the text is exactly the prefix, `_` and 26 characters of the alphabet.
    public init?(_ text: String) {
        let (bytes, prefix) = (text.utf8, Subject.idPrefix.utf8)
        guard bytes.count == prefix.count + 1 + Crockford.length, bytes.starts(with: prefix),
            bytes.dropFirst(prefix.count).first == UInt8(ascii: "_"),
            bytes.suffix(Crockford.length).allSatisfy(Crockford.contains)
        else { return nil }
        rawValue = text
    }

    fileprivate init(bits: UInt128) { rawValue = Subject.idPrefix + "_" + Crockford.encode(bits) }
}

extension ID {
    /// An id that sorts before every id made at this time or later, and after those made earlier.
    package static func least(at time: Timestamp) -> ID {
        let seconds = UInt128(max(0, min(time.rawValue, Timestamp.farFuture.rawValue + 86_400)))
        return ID(bits: seconds * 1_000 << 80)
    }
}

extension ID {
    /// The time of its making, to the second: a UUIDv7 begins with 48 bits of milliseconds since 1970 (RFC 9562 section
    /// 5.7).
    public var madeAt: Timestamp {
        let bits = rawValue.utf8.suffix(Crockford.length).reduce(UInt128(0)) { bits, letter in
            bits << 5 | UInt128(Crockford.alphabet.firstIndex(of: letter) ?? 0)
        }
        return Timestamp(Int64(truncatingIfNeeded: bits >> 80) / 1_000)
    }
}

extension ID: CustomStringConvertible {
    public var description: String { rawValue }
}

extension ID: Comparable {
    public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
}

extension ID: TextCodable {}

private enum Crockford {
    static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    static let length = 26

    static func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "i"), UInt8(ascii: "l"), UInt8(ascii: "o"), UInt8(ascii: "u"): false
        default: byte.isDigit || byte.isSmallLetter
        }
    }

    static func encode(_ bits: UInt128) -> String {
        String(unsafeUninitializedCapacity: length) { buffer in
            var rest = bits
            for index in (0..<length).reversed() {
                buffer[index] = alphabet[Int(truncatingIfNeeded: rest & 31)]
                rest >>= 5
            }
            return length
        }
    }
}

/// Makes ids from the injected clock and randomness.
public struct IDSource: Sendable {
    private let time: TimeSource
    private let random: RandomSource

    public init(time: TimeSource, random: RandomSource) {
        self.time = time
        self.random = random
    }

    public func make<Subject: Identified>(_ subject: Subject.Type = Subject.self) -> ID<Subject> {
        ID(bits: uuid7())
    }

    /// A UUIDv7: 48 bits of milliseconds, the version, 74 random bits, the variant.
    private func uuid7() -> UInt128 {
        let tail = random.bytes(10).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let randomA = (tail >> 62) & 0xFFF
        let randomB = tail & ((1 << 62) - 1)
        let stamp = UInt128(UInt64(max(0, time.milliseconds()))) & 0xFFFF_FFFF_FFFF
        return stamp << 80 | 7 << 76 | randomA << 64 | 2 << 62 | randomB
    }
}
