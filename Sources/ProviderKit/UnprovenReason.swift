/// The reason why a message is not proven: a refused notification, or an answer that is not accepted as the provider's.
///
/// The list is closed, because log lines, stored rows, lists and metrics count by ``word``. No case contains any part
/// of the message.
public enum UnprovenReason: Sendable, Hashable, CaseIterable {
    /// The signature is missing, has another form, or does not verify.
    case signature
    /// The message was signed too long ago, or in the future.
    case time
    /// The certificate is not the provider's: another chain, expired, without its marker, or an unknown number.
    case certificate
    /// A genuine message about an app that is not the account's.
    case otherApp
    /// A genuine message about a merchant that is not the account's.
    case otherMerchant
    /// A genuine message of another mode or environment: a test where the account is live, or the reverse.
    case otherMode
    /// An answer about something other than the request.
    case otherPayment
    /// An amount that cannot be read exactly, or differs from the requested one.
    case badMoney
    /// A genuine message that cannot be decoded.
    case unreadable
    /// A message in a form that has no place for a signature.
    case malformed
    /// The account accepts no notifications.
    case unsupported

    /// The name in logs, rows and metrics; `malformed` is named `unreadable` too.
    public var word: String {
        switch self {
        case .signature: "signature"
        case .time: "time"
        case .certificate: "certificate"
        case .otherApp: "other_app"
        case .otherMerchant: "other_merchant"
        case .otherMode: "other_mode"
        case .otherPayment: "other_payment"
        case .badMoney: "bad_money"
        case .unreadable, .malformed: "unreadable"
        case .unsupported: "unsupported"
        }
    }

    /// Every ``word`` once, sorted.
    public static let words: [String] = Set(allCases.map(\.word)).sorted()

    /// True where the signature was valid, so that the message is the provider's.
    public var isSigned: Bool {
        switch self {
        case .otherApp, .otherMerchant, .otherMode, .otherPayment, .badMoney, .unreadable: true
        case .signature, .time, .certificate, .malformed, .unsupported: false
        }
    }
}
