/// The reason why a message is not believed: a notification that is refused, or an answer that is not taken for the
/// provider's.
///
/// The set is closed, because log lines, stored rows, lists and metrics count by ``word``. No case carries anything of
/// the message.
public enum UnprovenReason: Sendable, Hashable, CaseIterable {
    /// The signature is missing, has another form, or does not verify.
    case signature
    /// The message was signed too long ago, or in the future.
    case time
    /// The certificate is not the provider's: another chain, expired, without its marker, or an unknown number.
    case certificate
    /// Genuine, and about an app that is not the account's.
    case otherApp
    /// Genuine, and about a merchant that is not the account's.
    case otherMerchant
    /// Genuine, and of another mode or environment: a test where the account is live, or the other way round.
    case otherMode
    /// An answer about something else than what was asked for.
    case otherPayment
    /// An amount that cannot be read exactly, or another one than was asked for.
    case badMoney
    /// Genuine, and cannot be understood.
    case unreadable
    /// Of a form in which no signature can be looked for.
    case malformed
    /// The account takes no notifications.
    case unsupported

    /// The name in logs, rows and metrics; `malformed` has the name `unreadable` too.
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

    /// True where the signature was good, so that the message did come from the provider.
    public var isSigned: Bool {
        switch self {
        case .otherApp, .otherMerchant, .otherMode, .otherPayment, .badMoney, .unreadable: true
        case .signature, .time, .certificate, .malformed, .unsupported: false
        }
    }
}
