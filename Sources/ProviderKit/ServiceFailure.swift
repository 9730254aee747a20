/// The failures of a call to a service: each way in which it can end without the answer that was asked for.
public enum ServiceFailure<Refusal: ServiceRefusal>: Error, Sendable, Equatable {
    /// The call never reached the service.
    case notSent
    /// The call may have taken effect: a time limit, a cut connection, an answer that is none of the service's.
    case unanswered
    /// The service's "no".
    case refused(Refusal)
    /// The answer is not believed: nothing proves it, it is about another payment or mode, or its amount is another one.
    case unproven(UnprovenReason)
    /// The answer cannot be said in Paydesk's terms, by the reason; `bad_amount` is an amount that cannot be read exactly.
    case unsayable(String)

    /// The answer is about another payment.
    public static var foreign: ServiceFailure { .unproven(.otherPayment) }

    /// Returns the failure as a provider error.
    ///
    /// - Parameter afterChange: whether the call changes something, so that its loss leaves the effect unknown.
    public func providerError(afterChange: Bool) -> ProviderError {
        let unknown: ProviderError = afterChange ? .outcomeUnknown : .unavailable
        return switch self {
        case .notSent: .unavailable
        case .unanswered: unknown
        case .unproven(let reason): .unproven(reason)
        // An answer that cannot be said is no "no": the service may have done what was asked.
        case .unsayable(let reason): reason == "bad_amount" ? .unproven(.badMoney) : unknown
        case .refused(let refusal): refusal.providerError(unknown)
        }
    }
}

/// A service's "no" as its answer says it: a status and codes, never its free text.
public protocol ServiceRefusal: Sendable, Equatable {
    /// Returns the refusal as a provider error: `rejected` only for a documented refusal that stays so, `unavailable` where nothing began.
    ///
    /// - Parameter unknown: what a lost answer to the same call would mean; for every refusal that leaves the effect open.
    func providerError(_ unknown: ProviderError) -> ProviderError
}
