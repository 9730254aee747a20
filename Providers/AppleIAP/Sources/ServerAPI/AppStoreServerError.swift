package import AppleTrust

/// The errors of a call to Apple's server API; closed, because what happens next depends on it.
package enum AppStoreServerError: Error, Sendable, Equatable {
    /// The call changed nothing and may be repeated: not before `after` (milliseconds since 1970) where it is known.
    case retryable(AppStoreFailure, after: Int64?)
    /// The change may have been made: look before it is asked for again.
    case outcomeUnknown
    /// No environment that was asked knows this transaction, or not yet: new ones can take a while (4040010, 4040005).
    case unknownTransactionYet
    /// The queried object does not exist; the code is Apple's.
    case notFound(code: Int64)
    /// The revision or pagination token is no longer good: begin again without one.
    case pagingExpired(code: Int64)
    /// The pages repeat themselves while Apple says that there are more.
    case pagingLoop
    /// The list has more pages than one call may read; those that were read are valid.
    case tooManyPages
    /// 401: the key, the issuer or the app's id is wrong, the clock is, or the app has no release (see `diagnose`).
    case unauthorized(AppleEnvironment)
    /// Final: Apple refused, with its own code and words.
    case permanent(code: Int64, message: String)
    /// An answer that Apple does not give, such as a redirect: the address is wrong, or a proxy answered.
    case unexpectedReply(status: Int)
    /// Not sent: this argument can never be right.
    case invalidRequest(String)
    /// Not sent: this environment is not among the account's.
    case environmentNotConfigured(AppleEnvironment)
}

/// The reason why a call may be tried again.
package enum AppStoreFailure: Sendable, Equatable {
    /// Apple could not be reached.
    case unreachable
    /// Apple was asked and did not answer in time, or not completely.
    case noAnswer
    /// 429: Apple's rate limit.
    case rateLimited
    /// Too many calls of ours wait for their turn already.
    case ownLimit
    /// An error that Apple calls retryable, or a general one of its own.
    case apple(code: Int64)
    /// A server's error without Apple's error code.
    case status(Int)
    /// An answer that says less than it must; the text names what is wrong, never what it held.
    case damaged(String)
    /// The task was cancelled before the request was sent.
    case cancelled
}

/// The defect of an answer that cannot be used; the text holds nothing of the answer.
struct AppStoreAnswerDefect: Error {
    let what: String

    init(_ what: String) { self.what = what }
}

extension AppStoreServerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .retryable(let trouble, _): "the App Store cannot answer now: \(trouble)"
        case .outcomeUnknown: "the App Store did not say whether it made the change"
        case .unknownTransactionYet: "the App Store does not know this transaction, or not yet"
        case .notFound(let code): "the App Store does not have this (\(Self.words(code)))"
        case .pagingExpired(let code): "the list has to be read from its start again (\(code))"
        case .pagingLoop: "the App Store repeats its pages"
        case .tooManyPages: "the App Store has more pages than are read at once"
        case .unauthorized(let environment): "the App Store refuses the token in \(environment.rawValue) (401)"
        case .permanent(let code, let message):
            "the App Store refuses: \(Self.explanation(code) ?? (message.isEmpty ? "no reason given" : message)) (\(code))"
        case .unexpectedReply(let status): "no answer of the App Store's: status \(status)"
        case .invalidRequest(let what): "this cannot be asked: \(what)"
        case .environmentNotConfigured(let environment): "\(environment.rawValue) is not configured"
        }
    }

    /// The limits that Apple's codes stand for, in words for a person; nil for codes that need none.
    package static func explanation(_ code: Int64) -> String? {
        switch code {
        case 4_000_002: "the app's bundle id is not one that this key may ask about"
        case 4_000_012: "the start date lies before what Apple keeps: 180 days, in Sandbox 30"
        case 4_000_035: "the customer has to have consented to sharing consumption information"
        case 4_000_043, 4_000_047: "this sort of product takes no consumption information"
        case 4_000_048: "this call takes no appTransactionId"
        case 4_000_183: "the app account token is no UUID"
        case 4_000_185: "it belongs to a family member, and only the buyer's own can be changed"
        case 4_000_187: "this is not the original transaction's id"
        case 4_030_004:
            "only an active, paid subscription can be extended: not in a free offer, a grace period or billing retry"
        case 4_030_005: "a customer's subscription can be extended twice in 365 days, and it was"
        case 4_030_007: "a subscription that came by family sharing cannot be extended"
        case 4_040_003: "Apple knows no app of this bundle id"
        case 4_040_007: "no notification URL is set for this app and environment in App Store Connect"
        case 4_040_008: "there is no such test notification, or not yet"
        case 4_040_009: "there is no such request to extend renewal dates"
        default: nil
        }
    }

    private static func words(_ code: Int64) -> String { explanation(code).map { "\($0), \(code)" } ?? "\(code)" }
}

extension AppStoreFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreachable: "it is unreachable"
        case .noAnswer: "no complete answer in time"
        case .rateLimited: "its rate limit is reached"
        case .ownLimit: "too many calls wait for their turn"
        case .apple(let code): "error \(code)"
        case .status(let status): "status \(status)"
        case .damaged(let what): "its answer is damaged: \(what)"
        case .cancelled: "the call was cancelled"
        }
    }
}
