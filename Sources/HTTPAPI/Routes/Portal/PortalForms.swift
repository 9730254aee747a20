import Domain
import Gateway
import HTTPTypes

/// The acts of the portal's forms, on the subscription of the page's address.
struct PortalForms {
    let gateway: Gateway
    let call: Call
    let caller: AuthenticatedSession
    let form: [String: String]
    let place: PortalPlace

    private var acts: SubscriptionActs { gateway.subscriptionActs }
    private var actor: SubscriptionActor { .user(caller.user) }
    private var context: CallContext { CallContext(actor: .session(caller.id), requestID: call.requestID) }
    /// True where the payer has answered the question before the act.
    private var isConfirmed: Bool { form["confirmed"] == "yes" }

    /// Does what the form asks for.
    ///
    /// - Returns: the path, below the session's, of the page that shows the outcome.
    /// - Throws: the errors of the use cases, and `invalidRequest` for an act that this page does not have.
    func run() async throws(GatewayError) -> String {
        guard let act = form["act"] else { throw .invalidRequest(field: "act", reason: "is missing") }
        if act == "language" {
            try await gateway.sessions.setLanguage(form["lang"] ?? "", in: caller)
            return place.path
        }
        switch (act, place) {
        case ("cancel_renewal", .subscription(let id)): return try await cancel(id)
        case ("resume", .subscription(let id)):
            _ = try await acts.resume(id, by: actor, context: context)
            return place.path
        case ("change_plan", .subscription(let id)): return try await change(id)
        case ("new_card", .subscription(let id)), ("pay", .subscription(let id)):
            return try await openChoice(id)
        case ("method", .card(let id)):
            try await openMethod(id)
            return place.path
        case ("check", .card(let id)):
            try await check(id)
            return place.path
        default: throw .invalidRequest(field: "act", reason: "is unknown")
        }
    }

    /// Asks first, then ends the renewal.
    private func cancel(_ id: String) async throws(GatewayError) -> String {
        try await acts.requireRunning(id, by: actor)
        guard isConfirmed else { return place.path + "?view=cancel" }
        _ = try await acts.cancel(id, by: actor, context: context)
        return place.path
    }

    /// Shows first what another plan means, then asks for it.
    private func change(_ id: String) async throws(GatewayError) -> String {
        try await acts.requireRunning(id, by: actor)
        guard let sku = form["sku"], let code = SKUCode(sku) else {
            guard form["sku"] == nil else { throw .invalidRequest(field: "sku", reason: "is unknown") }
            return place.path + "?view=plans"
        }
        guard isConfirmed else { return place.path + "?view=change&sku=\(code.rawValue)" }
        _ = try await acts.change(id, to: sku, by: actor, context: context)
        return place.path
    }

    private func page(_ id: String, isChoosing: Bool = false) -> SubscriptionCardPage {
        SubscriptionCardPage(
            address: PortalPlace.card(id, of: caller.id, at: gateway.settings.publicURL), isChoosing: isChoosing)
    }

    /// Leads to the choice of a payment method, also where an earlier one has ended on the same page.
    private func openChoice(_ id: String) async throws(GatewayError) -> String {
        try await acts.requireRunning(id, by: actor)
        let card = try await acts.card(id, on: page(id), by: actor)
        let isOver = card.state == .paid || card.failed != nil
        return PortalPlace.card(id).path + (isOver ? "?view=methods" : "")
    }

    private func openMethod(_ id: String) async throws(GatewayError) {
        let parts = (form["method"] ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let type = ContractType(rawValue: String(parts[1])), type != .none else {
            throw .invalidRequest(field: "method", reason: "must be an account and a contract type")
        }
        try await acts.openCard(
            id, with: type, from: page(id), by: actor, context,
            payerAddress: call.from.address(call.request.headerFields))
    }

    /// Asks the provider now.
    private func check(_ id: String) async throws(GatewayError) {
        let card = try await acts.card(id, on: page(id), by: actor)
        if let order = card.order_id {
            _ = try await gateway.reconciliation.refresh(order.rawValue, user: caller.user, context: context)
        } else {
            _ = try await acts.refreshPaymentMethod(id, by: actor, context: context)
        }
    }
}
