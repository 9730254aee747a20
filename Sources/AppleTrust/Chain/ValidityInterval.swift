import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A closed interval of time in milliseconds since 1970-01-01 UTC; empty where `first` is after `last`.
struct ValidityInterval: Equatable, Sendable {
    let first: Int64
    let last: Int64

    func contains(_ milliseconds: Int64) -> Bool { first <= milliseconds && milliseconds <= last }

    func intersection(_ other: ValidityInterval) -> ValidityInterval {
        ValidityInterval(first: max(first, other.first), last: min(last, other.last))
    }
}

extension ValidityInterval {
    /// A certificate's validity: both seconds count whole (RFC 5280 section 4.1.2.5).
    init(of certificate: Certificate) {
        first = Self.seconds(certificate.notValidBefore) * 1_000
        last = Self.seconds(certificate.notValidAfter) * 1_000 + 999
    }

    /// Whole seconds, limited to the years that X.509 can express.
    private static func seconds(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        return Int64(min(max(seconds, -62_167_219_200), 253_402_300_799))
    }
}
