import AppleTrust
import Testing

/// A generated receipt and its expected refusal.
struct ReceiptCase: Sendable, CustomTestStringConvertible {
    /// The result of `openssl cms -verify`.
    enum OpenSSL: Sendable, Equatable {
        /// OpenSSL decides as we do.
        case agrees
        /// OpenSSL accepts what we refuse: it lacks this check.
        case isLaxer
        /// OpenSSL refuses what we accept.
        case isStricter
    }

    let name: String
    let bytes: [UInt8]
    /// The expected reason; nil where the receipt must be accepted.
    let reason: AppleRefusal.Reason?
    let openSSL: OpenSSL
    /// The creation date in milliseconds since 1970.
    let time: Int64

    var text: String { bytes.base64 }
    var testDescription: String { name }

    init(
        _ name: String, _ bytes: [UInt8], _ reason: AppleRefusal.Reason?, _ openSSL: OpenSSL = .agrees,
        at time: Int64 = TestTime.now
    ) {
        self.name = name
        self.bytes = bytes
        self.reason = reason
        self.openSSL = openSSL
        self.time = time
    }

    init(
        _ name: String, _ reason: AppleRefusal.Reason? = nil, _ openSSL: OpenSSL = .agrees,
        at time: Int64 = TestTime.now, edit: (inout TestReceipt) -> Void
    ) {
        var receipt = TestReceipt()
        receipt.fields[12] = TestReceipt.date(time)
        edit(&receipt)
        self.init(name, receipt.bytes, reason, openSSL, at: time)
    }

    static let verifier = TestVerifier.new(roots: TestReceiptChain.trusted)

    /// The reason of a refusal; nil where the receipt was accepted.
    static func reason(_ text: String, _ verifier: AppleVerifier = verifier) -> AppleRefusal.Reason? {
        do throws(AppleRefusal) {
            _ = try verifier.receipt(text)
            return nil
        } catch {
            return error.reason
        }
    }
}
