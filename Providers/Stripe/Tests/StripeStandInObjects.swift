import Foundation
import ProviderKit

extension FakeStripeServer.Intent {
    var json: [String: Any] {
        var fields: [String: Any] = [
            "id": id, "object": "payment_intent", "amount": amount, "amount_received": received, "currency": currency,
            "status": status, "client_secret": secret, "livemode": false, "metadata": metadata, "created": created,
            "latest_charge": NSNull(), "last_payment_error": NSNull(), "customer": customer ?? NSNull(),
            "payment_method": method ?? NSNull(), "a_field_of_next_year": ["x": [1, 2]],
        ]
        if let failure {
            var error = ["type": "card_error", "code": failureCode, "decline_code": failure]
            error["advice_code"] = advice
            fields["last_payment_error"] = error
        }
        return fields
    }
}

extension FakeStripeServer.Session {
    func json(_ state: FakeStripeServer.State, expands: Bool) -> [String: Any] {
        var fields: [String: Any] = [
            "id": id, "object": "checkout.session", "amount_total": amount, "currency": currency, "status": status,
            "payment_status": paid, "livemode": false, "metadata": metadata, "created": created, "expires_at": expires,
            "mode": setup == nil ? "payment" : "setup", "url": NSNull(), "payment_intent": NSNull(),
            "setup_intent": NSNull(), "customer": customer ?? NSNull(),
        ]
        if let found = setup.flatMap({ id in state.setups.first { $0.id == id } }) {
            fields["setup_intent"] = expands ? found.json : found.id
            fields["amount_total"] = NSNull()
            fields["payment_status"] = "no_payment_required"
        }
        if status == "open" { fields["url"] = "https://checkout.stripe.example/c/pay/\(id)#frag" }
        if let found = intent.flatMap({ id in state.intents.first { $0.id == id } }) {
            fields["payment_intent"] = expands ? found.json : found.id
        }
        return fields
    }
}

extension FakeStripeServer.Refund {
    var json: [String: Any] {
        [
            "id": id, "object": "refund", "amount": amount, "currency": currency, "status": status,
            "payment_intent": intent, "charge": "ch_of_\(intent)", "metadata": metadata, "created": created,
        ]
    }
}

extension FakeStripeServer {
    static func makeIntent(_ call: FakeStripeServerCall, _ state: inout State, _ now: Int64) -> IncomingReply {
        let known: Set = [
            "amount", "currency", "metadata[*]", "payment_method_types[]", "automatic_payment_methods[enabled]",
            "description", "capture_method", "payment_method_data[type]", "payment_method_data[card][token]", "confirm",
            "error_on_requires_action", "customer", "setup_future_usage", "payment_method", "off_session",
        ]
        if let stranger = call.stranger(known) { return .unknown(stranger) }
        if call.values["off_session"] != nil || call.values["payment_method"] != nil {
            return chargeOffSession(call, &state, now)
        }
        guard let amount = call.values["amount"].flatMap({ Int64($0) }), let currency = call.values["currency"],
            currency == currency.lowercased()
        else { return .stripe(400, "invalid_request_error", "parameter_missing") }
        var intent = Intent(
            id: state.id("pi"), amount: amount, currency: currency, metadata: call.map("metadata"), created: now)
        if let refusal = keep(call.values["setup_future_usage"], call.values["customer"], state) { return refusal }
        (intent.customer, intent.isForFuture) = (call.values["customer"], call.values["setup_future_usage"] != nil)
        guard call.values["confirm"] == "true" else {
            state.intents.append(intent)
            return .json(intent.json)
        }
        guard let token = call.values["payment_method_data[card][token]"], state.tokens.remove(token) != nil else {
            return .stripe(400, "invalid_request_error", "resource_missing")
        }
        pay(&intent, !state.declines)
        state.intents.append(intent)
        guard state.declines else { return .json(intent.json) }
        let error: [String: Any] = [
            "type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds",
            "payment_intent": intent.json,
        ]
        return .json(["error": error], status: 402)
    }

    /// Makes a single-use token from an Apple Pay token.
    static func makeToken(_ call: FakeStripeServerCall, _ state: inout State) -> IncomingReply {
        let known: Set = [
            "pk_token", "pk_token_instrument_name", "pk_token_payment_network", "pk_token_transaction_id",
        ]
        if let stranger = call.stranger(known) { return .unknown(stranger) }
        guard let text = call.values["pk_token"], (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil
        else {
            return .stripe(400, "invalid_request_error", "parameter_missing")
        }
        let id = state.id("tok")
        state.tokens.insert(id)
        return .json(["id": id, "object": "token", "type": "card", "used": false])
    }

    static func makeSession(_ call: FakeStripeServerCall, _ state: inout State, _ now: Int64) -> IncomingReply {
        let known: Set = [
            "mode", "success_url", "cancel_url", "client_reference_id", "expires_at", "metadata[*]",
            "payment_intent_data[metadata][*]", "payment_method_types[]", "line_items[][quantity]",
            "line_items[][price_data][currency]", "line_items[][price_data][unit_amount]",
            "line_items[][price_data][product_data][name]", "customer", "payment_intent_data[setup_future_usage]",
        ]
        if call.values["mode"] == "setup" { return makeSetupSession(call, &state, now) }
        if let stranger = call.stranger(known) { return .unknown(stranger) }
        let usage = call.values["payment_intent_data[setup_future_usage]"]
        if let refusal = keep(usage, call.values["customer"], state) { return refusal }
        guard call.values["mode"] == "payment", call.values["success_url"]?.isEmpty == false,
            call.values["line_items[0][quantity]"] == "1",
            call.values["line_items[0][price_data][product_data][name]"]?.isEmpty == false,
            let amount = call.values["line_items[0][price_data][unit_amount]"].flatMap({ Int64($0) }),
            let currency = call.values["line_items[0][price_data][currency]"]
        else { return .stripe(400, "invalid_request_error", "parameter_missing") }
        let expires = call.values["expires_at"].flatMap { Int64($0) } ?? now + 86_400
        guard (now + 1_800...now + 86_400).contains(expires) else {
            return .stripe(400, "invalid_request_error", "parameter_missing", "expires_at is out of its range")
        }
        let session = Session(
            id: state.id("cs_test"), amount: amount, currency: currency, metadata: call.map("metadata"),
            intentMetadata: call.map("payment_intent_data[metadata]"), created: now, expires: expires,
            customer: call.values["customer"], isForFuture: usage != nil)
        state.sessions.append(session)
        return .json(session.json(state, expands: false))
    }

    static func makeRefund(_ call: FakeStripeServerCall, _ state: inout State, _ now: Int64) -> IncomingReply {
        if let stranger = call.stranger(["payment_intent", "amount", "metadata[*]"]) { return .unknown(stranger) }
        guard let intent = state.intents.first(where: { $0.id == call.values["payment_intent"] }) else {
            return .missing
        }
        let left =
            intent.received
            - state.refunds.filter { $0.intent == intent.id && $0.status != "failed" }
            .reduce(0) { $0 + $1.amount }
        let amount = call.values["amount"].flatMap { Int64($0) } ?? left
        guard left > 0 else { return .stripe(400, "invalid_request_error", "charge_already_refunded") }
        guard (1...left).contains(amount) else { return .stripe(400, "invalid_request_error") }
        let refund = Refund(
            id: state.id("re"), intent: intent.id, amount: amount, currency: intent.currency,
            metadata: call.map("metadata"), created: now)
        state.refunds.append(refund)
        return .json(refund.json)
    }

    static func cancel(_ id: String, _ call: FakeStripeServerCall, _ state: inout State) -> IncomingReply {
        if let stranger = call.stranger(["cancellation_reason"]) { return .unknown(stranger) }
        guard let index = state.intents.firstIndex(where: { $0.id == id }) else { return .missing }
        guard state.intents[index].status.hasPrefix("requires_"), state.intents[index].session == nil else {
            return .stripe(400, "invalid_request_error", "payment_intent_unexpected_state")
        }
        state.intents[index].status = "canceled"
        return .json(state.intents[index].json)
    }

    static func expire(_ id: String, _ call: FakeStripeServerCall, _ state: inout State) -> IncomingReply {
        if let stranger = call.stranger([]) { return .unknown(stranger) }
        guard let index = state.sessions.firstIndex(where: { $0.id == id }) else { return .missing }
        guard state.sessions[index].status == "open" else { return .stripe(400, "invalid_request_error") }
        state.sessions[index].status = "expired"
        return .json(state.sessions[index].json(state, expands: false))
    }

    static func listIntents(_ call: FakeStripeServerCall, _ state: State) -> IncomingReply {
        if let stranger = call.stranger(listing.union(["customer"])) { return .unknown(stranger) }
        let customer = call.values["customer"]
        let fitting = state.intents.filter { customer == nil || $0.customer == customer }
        return list(call, fitting.map { ($0.id, $0.created, $0.json) })
    }

    static func listSessions(_ call: FakeStripeServerCall, _ state: State) -> IncomingReply {
        if let stranger = call.stranger(listing) { return .unknown(stranger) }
        return list(call, state.sessions.map { ($0.id, $0.created, $0.json(state, expands: call.expands)) })
    }

    static func listRefunds(_ call: FakeStripeServerCall, _ state: State) -> IncomingReply {
        if let stranger = call.stranger(["payment_intent", "charge", "limit", "starting_after"]) {
            return .unknown(stranger)
        }
        let intent = call.values["payment_intent"]
        let refunds = state.refunds.filter { intent == nil || $0.intent == intent }
        return list(call, refunds.map { ($0.id, $0.created, $0.json) })
    }

    static func searchIntents(_ call: FakeStripeServerCall, _ state: State) -> IncomingReply {
        guard let query = call.values["query"]?.wholeMatch(of: /metadata\['(\w+)'\]:'(\w+)'/) else {
            return .stripe(400, "invalid_request_error", "bad_query")
        }
        let (name, value) = (String(query.1), String(query.2))
        let found = state.intents.filter { state.isSearchable && $0.metadata[name] == value }
        return .json(["object": "search_result", "data": found.map(\.json), "has_more": false])
    }

    static let listing: Set = ["created[gte]", "created[lte]", "limit", "starting_after", "expand[]"]

    /// Lists the newest first, `limit` (10) on a page.
    static func list(_ call: FakeStripeServerCall, _ all: [(String, Int64, [String: Any])]) -> IncomingReply {
        let from = call.values["created[gte]"].flatMap { Int64($0) } ?? .min
        let until = call.values["created[lte]"].flatMap { Int64($0) } ?? .max
        var fitting = Array(all.filter { ($0.1 >= from) && ($0.1 <= until) }.reversed())
        if let last = call.values["starting_after"], let index = fitting.firstIndex(where: { $0.0 == last }) {
            fitting.removeFirst(index + 1)
        }
        let limit = call.values["limit"].flatMap { Int($0) } ?? 10
        guard (1...100).contains(limit) else { return .stripe(400, "invalid_request_error", "parameter_missing") }
        return .json([
            "object": "list", "data": fitting.prefix(limit).map(\.2), "has_more": fitting.count > limit,
            "url": "/v1/\(call.path.joined(separator: "/"))",
        ])
    }
}

extension IncomingReply {
    static func unknown(_ parameter: String) -> IncomingReply {
        .stripe(400, "invalid_request_error", "parameter_unknown", "Received unknown parameter: \(parameter)")
    }
}
