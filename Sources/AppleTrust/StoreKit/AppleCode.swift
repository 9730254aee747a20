/// A word or number of Apple's that is known, or one that is newer than this program, with its raw value.
public enum AppleCode<Known: RawRepresentable & Hashable & Sendable>: Hashable, Sendable
where Known.RawValue: Hashable & Sendable {
    case known(Known)
    case unknown(Known.RawValue)

    init(rawValue: Known.RawValue) { self = Known(rawValue: rawValue).map(Self.known) ?? .unknown(rawValue) }

    /// The value that Apple signed.
    public var rawValue: Known.RawValue {
        switch self {
        case .known(let known): known.rawValue
        case .unknown(let raw): raw
        }
    }

    /// The known value, for comparing: `transaction.type.known == .consumable`.
    public var known: Known? {
        guard case .known(let known) = self else { return nil }
        return known
    }
}
