import AppleTrust
import Testing

/// A minted receipt and what must become of it.
struct ReceiptCase: Sendable, CustomTestStringConvertible {
    /// The result of `openssl cms -verify`.
    enum OpenSSL: Sendable, Equatable {
        /// The same as we.
        case agrees
        /// OpenSSL accepts what we refuse: the check is ours alone.
        case isLaxer
        /// OpenSSL refuses what we accept.
        case isStricter
    }

    let name: String
    let bytes: [UInt8]
    /// Nil where it must be accepted.
    let reason: AppleRefusal.Reason?
    let openSSL: OpenSSL
    /// The creation date, in milliseconds.
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
