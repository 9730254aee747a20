@_exported public import RefusalReasons

/// The reason why signed data was not accepted.
///
/// `reason` is for a caller and safe to show; `detail` is for a log, says what was expected, and holds nothing of the
/// payload's content but bundle ids and environments.
public struct AppleRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    public typealias Reason = SignedDataRefusalReason

    public let reason: Reason
    public let detail: String
    /// The check that a person is shown for this refusal; nil where the reason implies it.
    let check: AppleCheck.Name?

    public var description: String { "\(reason.rawValue): \(detail)" }

    init(_ reason: Reason, _ detail: String, at check: AppleCheck.Name? = nil) {
        self.reason = reason
        self.detail = SafeText.line(detail)
        self.check = check
    }

    /// Returns the same refusal, shown as a failure of this check.
    func at(_ check: AppleCheck.Name) -> AppleRefusal { AppleRefusal(reason, detail, at: check) }

    static func malformed(_ detail: String) -> AppleRefusal { AppleRefusal(.malformed, detail) }
}
