import Domain
import Gateway
import HTTPTypes
import Pages

/// The acts of the cashier's forms.
struct CashierForms {
    let gateway: Gateway
    let call: Call
    let caller: AuthenticatedSession
    let form: [String: String]
    /// The language of the page on which the form stands.
    let locale: PageLocale

    private var id: String { caller.id.rawValue }

    private var context: CallContext { CallContext(actor: .session(caller.id), requestID: call.requestID) }

    /// Does what the form asks for.
    ///
    /// - Returns: the query of the page that shows the outcome; "" for its own state.
    /// - Throws: the errors of the use cases, and `invalidRequest` for an unknown act.
    func run() async throws(GatewayError) -> String {
        switch form["act"] {
        case "plan": return try await plan()
        case "method": try await method()
        case "cancel":
            _ = try await gateway.orderClosing.cancel(try await order(), user: caller.user, context: context)
        case "check":
            _ = try await gateway.reconciliation.refresh(try await order(), user: caller.user, context: context)
        case "language": try await gateway.sessions.setLanguage(form["lang"] ?? "", in: caller)
        default: throw .invalidRequest(field: "act", reason: "is unknown")
        }
        return ""
    }

    private func plan() async throws(GatewayError) -> String {
        let days = form["days"].flatMap { Int64($0) }
        if form["days"] != nil, days == nil { throw .invalidRequest(field: "days", reason: "must be an integer") }
        try await gateway.sessionCheckout.choose(form["sku"] ?? "", days: days, in: caller)
        // An order for another plan would be shown until a method is chosen.
        return try await gateway.sessionReading.find(caller).order == nil ? "" : "?view=methods"
    }

    private func method() async throws(GatewayError) {
        let parts = (form["method"] ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let type = ContractType(rawValue: String(parts[1])) else {
            throw .invalidRequest(field: "method", reason: "must be an account and a contract type")
        }
        let isFree = type == .none
        var fields = SessionFields(
            provider: isFree ? nil : String(parts[0]), accept: isFree ? nil : [type],
            returnURL: "\(gateway.settings.publicURL)\(SessionDoor.path(id, .checkout))")
        // The payer has agreed to the sentence of the page.
        fields.termsLocale = locale.rawValue
        fields.payerAddress = call.from.address(call.request.headerFields)
        _ = try await gateway.sessionCheckout.open(fields, caller, context: context)
    }

    /// Returns the session's newest order.
    private func order() async throws(GatewayError) -> String {
        guard let order = try await gateway.sessionReading.find(caller).order else {
            throw .invalidRequest(field: "act", reason: "there is no order")
        }
        return order.order.id.rawValue
    }

    /// Returns true where a managed subscription's sentence was not agreed to.
    func lacksAgreement() async throws(GatewayError) -> Bool {
        guard form["act"] == "method", form["terms"] != "accepted" else { return false }
        let session = try await gateway.sessionReading.find(caller)
        guard let sku = session.chosen?.sku else { return false }
        return session.terms[sku] != nil
    }
}

extension PageAlert {
    /// - Returns: nil for a failure that the page cannot be shown with.
    init?(_ error: GatewayError) {
        switch error {
        case .sessionOver: self = .sessionOver
        case .rateLimited, .usageLimitReached: self = .rateLimited
        case .providerUnavailable, .outcomeUnknown: self = .providerUnavailable
        case .noProvider, .noProviderAvailable: self = .noProviderAvailable
        case .providerRejected: self = .refused
        case .orderIsPaid, .orderNotOpen, .contractGone, .instructionExpired, .conflict, .requestInProgress,
            .alreadyOwned, .leaseLost:
            self = .conflict
        case .subscriptionIs, .subscriptionRuns, .belongsToSubscription: self = .conflict
        case .invalidRequest, .skuNotFound, .orderNotFound, .notFound: self = .invalid
        default: return nil
        }
    }
}
