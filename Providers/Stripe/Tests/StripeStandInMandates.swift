import Foundation
import ProviderKit
import Synchronization

/// Customers, payment methods, SetupIntents and charges without a payer, by Stripe's documentation.
extension FakeStripeServer {
    struct Customer {
        let id: String
        let metadata: [String: String]
        let created: Int64
        var isDeleted = false

        var json: [String: Any] {
            if isDeleted { return ["id": id, "object": "customer", "deleted": true] }
            return [
                "id": id, "object": "customer", "metadata": metadata, "created": created, "livemode": false,
                "email": NSNull(),
            ]
        }
    }

    /// The outcome of a charge of a payment method.
    enum Charging: Sendable, Equatable {
        case succeeds
        case declines(String, advice: String? = nil)
        /// 402 without the PaymentIntent, as other servers for Stripe's API answer.
        case declinesWithoutIntent
        case needsPayer
        /// 200 with a status that waits for the payer.
        case waitsForPayer
        case processes
        /// 400 about another parameter, which an operator has to mend.
        case isNotUnderstood
    }

    struct Method {
        let id: String
        var customer: String?
        var fingerprint = "Xt5EWLLDS7FJjR1c"
        var type = "card"
        var charging = Charging.succeeds

        var json: [String: Any] {
            [
                "id": id, "object": "payment_method", "type": type, "livemode": false, "customer": customer ?? NSNull(),
                "metadata": [String: String](), "billing_details": ["email": NSNull()],
                "card": [
                    "brand": "visa", "last4": "4242", "exp_month": 12, "exp_year": 2_040, "fingerprint": fingerprint,
                    "checks": ["cvc_check": "pass"],
                ] as [String: Any],
            ]
        }
    }

    struct Setup {
        let id: String
        var status = "requires_payment_method"
        let metadata: [String: String]
        let customer: String?
        let created: Int64
        var method: String?
        var session: String?
        var failure: String?

        var json: [String: Any] {
            var fields: [String: Any] = [
                "id": id, "object": "setup_intent", "status": status, "client_secret": "\(id)_secret_9Zt1",
                "livemode": false, "metadata": metadata, "customer": customer ?? NSNull(), "created": created,
                "payment_method": method ?? NSNull(), "usage": "off_session", "last_setup_error": NSNull(),
            ]
            if let failure { fields["last_setup_error"] = ["type": "card_error", "code": failure] }
            return fields
        }
    }

    struct WebhookTarget {
        let url: String
        let events: [String]
        var status = "enabled"

        var json: [String: Any] {
            ["id": "we_1", "object": "webhook_endpoint", "url": url, "enabled_events": events, "status": status]
        }
    }

    // MARK: Routes

    static func routeOfMandates(
        _ call: FakeStripeServerCall, _ state: inout State, _ now: Int64
    ) -> IncomingReply? {
        let (path, id) = (call.path, call.path.count > 1 ? call.path[1] : "")
        switch (call.method, path.first, path.count, path.last) {
        case ("POST", "customers", 1, _): return makeCustomer(call, &state, now)
        case ("GET", "customers", 2, "search"): return searchCustomers(call, state)
        case ("GET", "customers", 2, _): return state.customers.first { $0.id == id }.map { .json($0.json) } ?? .missing
        case ("DELETE", "customers", 2, _): return deleteCustomer(id, &state)
        case ("GET", "payment_methods", 2, _):
            return state.methods.first { $0.id == id }.map { .json($0.json) } ?? .missing
        case ("POST", "payment_methods", 3, "detach"): return detach(id, call, &state)
        case ("POST", "setup_intents", 1, _): return makeSetup(call, &state, now)
        case ("GET", "setup_intents", 1, _):
            if let stranger = call.stranger(listing) { return .unknown(stranger) }
            return list(call, state.setups.map { ($0.id, $0.created, $0.json) })
        case ("GET", "setup_intents", 2, _):
            return state.setups.first { $0.id == id }.map { .json($0.json) } ?? .missing
        case ("POST", "setup_intents", 3, "cancel"): return cancelSetup(id, call, &state)
        case ("POST", "setup_intents", 3, "confirm"): return confirmSetup(id, call, &state)
        case ("GET", "webhook_endpoints", 1, _):
            return .json(["object": "list", "data": state.endpoints.map(\.json), "has_more": false])
        default: return nil
        }
    }

    private static func makeCustomer(_ call: FakeStripeServerCall, _ state: inout State, _ now: Int64) -> IncomingReply
    {
        if let stranger = call.stranger(["metadata[*]"]) { return .unknown(stranger) }
        let customer = Customer(id: state.id("cus"), metadata: call.map("metadata"), created: now)
        state.customers.append(customer)
        return .json(customer.json)
    }

    private static func searchCustomers(_ call: FakeStripeServerCall, _ state: State) -> IncomingReply {
        guard let query = call.values["query"]?.wholeMatch(of: /metadata\['(\w+)'\]:'(\w+)'/) else {
            return .stripe(400, "invalid_request_error", "bad_query")
        }
        let (name, value) = (String(query.1), String(query.2))
        let found = state.customers.filter { !$0.isDeleted && $0.metadata[name] == value }
        return .json(["object": "search_result", "data": found.map(\.json), "has_more": false])
    }

    private static func deleteCustomer(_ id: String, _ state: inout State) -> IncomingReply {
        guard let index = state.customers.firstIndex(where: { $0.id == id && !$0.isDeleted }) else { return .missing }
        state.customers[index].isDeleted = true
        for index in state.methods.indices where state.methods[index].customer == id {
            state.methods[index].customer = nil
        }
        return .json(state.customers[index].json)
    }

    private static func detach(_ id: String, _ call: FakeStripeServerCall, _ state: inout State) -> IncomingReply {
        if let stranger = call.stranger([]) { return .unknown(stranger) }
        guard let index = state.methods.firstIndex(where: { $0.id == id }) else { return .missing }
        guard state.methods[index].customer != nil else {
            return .stripe(400, "invalid_request_error", "payment_method_unexpected_state")
        }
        state.methods[index].customer = nil
        return .json(state.methods[index].json)
    }

    private static func makeSetup(_ call: FakeStripeServerCall, _ state: inout State, _ now: Int64) -> IncomingReply {
        let known: Set = ["customer", "usage", "payment_method_types[]", "metadata[*]"]
        if let stranger = call.stranger(known) { return .unknown(stranger) }
        guard call.values["usage"] == "off_session", call.values["payment_method_types[0]"] != nil else {
            return .stripe(400, "invalid_request_error", "parameter_missing")
        }
        if let customer = call.values["customer"], !has(customer, state) { return missing("customer") }
        let setup = Setup(
            id: state.id("seti"), metadata: call.map("metadata"), customer: call.values["customer"], created: now)
        state.setups.append(setup)
        return .json(setup.json)
    }

    static func makeSetupSession(_ call: FakeStripeServerCall, _ state: inout State, _ now: Int64) -> IncomingReply {
        let known: Set = [
            "mode", "success_url", "cancel_url", "client_reference_id", "expires_at", "metadata[*]", "customer",
            "currency", "payment_method_types[]", "setup_intent_data[metadata][*]",
        ]
        if let stranger = call.stranger(known) { return .unknown(stranger) }
        guard call.values["success_url"]?.isEmpty == false,
            call.values["payment_method_types[0]"] != nil || call.values["currency"] != nil
        else { return .stripe(400, "invalid_request_error", "parameter_missing") }
        if let customer = call.values["customer"], !has(customer, state) { return missing("customer") }
        let expires = call.values["expires_at"].flatMap { Int64($0) } ?? now + 86_400
        guard (now + 1_800...now + 86_400).contains(expires) else {
            return .stripe(400, "invalid_request_error", "parameter_missing", "expires_at is out of its range")
        }
        let setup = Setup(
            id: state.id("seti"), metadata: call.map("setup_intent_data[metadata]"), customer: call.values["customer"],
            created: now, session: "a session")
        state.setups.append(setup)
        let session = Session(
            id: state.id("cs_test"), amount: 0, currency: "", metadata: call.map("metadata"), intentMetadata: [:],
            created: now, expires: expires, customer: call.values["customer"], setup: setup.id)
        state.sessions.append(session)
        return .json(session.json(state, expands: false))
    }

    private static func cancelSetup(_ id: String, _ call: FakeStripeServerCall, _ state: inout State) -> IncomingReply {
        if let stranger = call.stranger(["cancellation_reason"]) { return .unknown(stranger) }
        guard let index = state.setups.firstIndex(where: { $0.id == id }) else { return .missing }
        guard state.setups[index].status.hasPrefix("requires_"), state.setups[index].session == nil else {
            return .stripe(400, "invalid_request_error", "setup_intent_unexpected_state")
        }
        state.setups[index].status = "canceled"
        return .json(state.setups[index].json)
    }

    /// Confirms like the payer's browser, with one of Stripe's test cards.
    private static func confirmSetup(_ id: String, _ call: FakeStripeServerCall, _ state: inout State) -> IncomingReply
    {
        if let stranger = call.stranger(["payment_method", "return_url"]) { return .unknown(stranger) }
        guard let index = state.setups.firstIndex(where: { $0.id == id }) else { return .missing }
        guard state.setups[index].status.hasPrefix("requires_") else {
            return .stripe(400, "invalid_request_error", "setup_intent_unexpected_state")
        }
        let cards: [String: Charging] = [
            "pm_card_visa": .succeeds, "pm_card_chargeCustomerFail": .declines("generic_decline"),
            "pm_card_authenticationRequired": .needsPayer,
        ]
        guard let charging = call.values["payment_method"].flatMap({ cards[$0] }) else {
            return .stripe(402, "card_error", "card_declined")
        }
        let method = Method(id: state.id("pm"), customer: state.setups[index].customer, charging: charging)
        state.methods.append(method)
        (state.setups[index].status, state.setups[index].method) = ("succeeded", method.id)
        return .json(state.setups[index].json)
    }

    // MARK: Charges

    /// Charges a payment method that was kept, without its payer.
    static func chargeOffSession(
        _ call: FakeStripeServerCall, _ state: inout State, _ now: Int64
    ) -> IncomingReply {
        let values = call.values
        guard values["off_session"] == "true", values["confirm"] == "true",
            let amount = values["amount"].flatMap({ Int64($0) }), let currency = values["currency"],
            let customer = values["customer"], let method = values["payment_method"],
            let type = values["payment_method_types[0]"], values["payment_method_types[1]"] == nil
        else { return .stripe(400, "invalid_request_error", "parameter_missing") }
        for name in ["setup_future_usage", "automatic_payment_methods[enabled]", "error_on_requires_action"]
        where values[name] != nil {
            return .stripe(400, "invalid_request_error", "parameter_invalid", "\(name) beside off_session")
        }
        guard has(customer, state) else { return missing("customer") }
        guard let kept = state.methods.first(where: { $0.id == method }), kept.customer == customer else {
            return missing("payment_method")
        }
        guard kept.type == type else { return .stripe(400, "invalid_request_error", "parameter_invalid") }
        if kept.charging == .isNotUnderstood {
            return .stripe(400, "invalid_request_error", "amount_too_small")
        }
        var intent = Intent(
            id: state.id("pi"), amount: amount, currency: currency, metadata: call.map("metadata"), created: now)
        (intent.customer, intent.method) = (customer, method)
        defer { state.intents.append(intent) }
        switch kept.charging {
        case .succeeds, .isNotUnderstood: (intent.status, intent.received) = ("succeeded", amount)
        case .processes: intent.status = "processing"
        case .waitsForPayer: intent.status = "requires_action"
        case .needsPayer:
            (intent.failure, intent.failureCode) = ("authentication_required", "authentication_required")
            return refusal(intent)
        case .declines(let code, let advice):
            (intent.failure, intent.advice) = (code, advice)
            return refusal(intent)
        case .declinesWithoutIntent:
            intent.failure = "generic_decline"
            return .stripe(402, "invalid_request_error", "card_declined")
        }
        return .json(intent.json)
    }

    private static func refusal(_ intent: Intent) -> IncomingReply {
        var error: [String: Any] = [
            "type": "card_error", "code": intent.failureCode, "decline_code": intent.failure ?? "",
            "message": "Words of Stripe's", "payment_intent": intent.json,
        ]
        error["advice_code"] = intent.advice
        return .json(["error": error], status: 402)
    }

    private static func has(_ customer: String, _ state: State) -> Bool {
        state.customers.contains { $0.id == customer && !$0.isDeleted }
    }

    private static func missing(_ parameter: String) -> IncomingReply {
        .json(
            [
                "error": [
                    "type": "invalid_request_error", "code": "resource_missing", "param": parameter,
                    "message": "No such \(parameter)",
                ]
            ], status: 400)
    }

    /// Refuses a payment that is to leave a payment method behind where nobody would keep it.
    static func keep(_ usage: String?, _ customer: String?, _ state: State) -> IncomingReply? {
        if let customer, !has(customer, state) { return missing("customer") }
        guard let usage else { return nil }
        return usage == "off_session" && customer != nil
            ? nil : .stripe(400, "invalid_request_error", "parameter_invalid")
    }

    // MARK: The payer

    /// Attaches the payer's means of payment to the customer, as a success with `setup_future_usage` does.
    static func keepMethod(of intent: inout Intent, _ state: inout State) {
        guard intent.isForFuture, let customer = intent.customer else { return }
        let method = Method(id: state.id("pm"), customer: customer)
        state.methods.append(method)
        intent.method = method.id
    }

    /// Gives a means of payment, or fails to, as the payer of a set-up.
    ///
    /// - Returns: false where it can no longer be given.
    func give(
        _ setup: String, succeeds: Bool = true, fingerprint: String = "Xt5EWLLDS7FJjR1c"
    ) -> Bool {
        state.withLock { state in
            let session = state.sessions.firstIndex { $0.metadata["setup_id"] == setup }
            guard session.map({ state.sessions[$0].status == "open" }) ?? true,
                let index = state.setups.firstIndex(where: { $0.metadata["setup_id"] == setup }),
                state.setups[index].status.hasPrefix("requires_")
            else { return false }
            guard succeeds else {
                state.setups[index].failure = "card_declined"
                return true
            }
            let method = Method(
                id: state.id("pm"), customer: state.setups[index].customer, fingerprint: fingerprint)
            state.methods.append(method)
            (state.setups[index].status, state.setups[index].method) = ("succeeded", method.id)
            if let session { state.sessions[session].status = "complete" }
            return true
        }
    }

    /// Decides what later charges of a customer's means of payment end in.
    func play(_ charging: Charging, customer: String? = nil) {
        state.withLock { state in
            for index in state.methods.indices where customer == nil || state.methods[index].customer == customer {
                state.methods[index].charging = charging
            }
        }
    }
}
