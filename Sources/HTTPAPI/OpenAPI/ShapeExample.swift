import Domain

extension Shape {
    /// Returns a value of this shape, as a client would send or receive it.
    ///
    /// It is the shape's own example or is made from the form: every member of an object, one element of a list, the
    /// first word of a closed list.
    ///
    /// - Parameters:
    ///   - name: the name of the member; it chooses the text or number where there is no example.
    ///   - isRequest: true to leave out the optional members of objects.
    func exampleValue(_ name: String = "", isRequest: Bool = false) -> JSONValue {
        if let example { return example }
        switch form {
        case .any: return .string("text")
        case .string(_, let length, _): return .string(Self.text(name, length))
        case .words(let words): return .string(words.first ?? "")
        case .integer(let range):
            let number = Self.numbers[name] ?? 1
            return .integer(range.map { min(max(number, $0.lowerBound), $0.upperBound) } ?? number)
        case .number: return .number(29.9)
        case .boolean: return .bool(!Self.usuallyFalse.contains(name))
        case .list(let element, _, _): return .array([element.exampleValue(name, isRequest: isRequest)])
        case .map(let value, _, _):
            let key = Self.keys[name] ?? "name"
            return .object([key: value.exampleValue(key, isRequest: isRequest)])
        case .object(let members):
            let shown = members.filter { $0.isRequired || !isRequest }
            return .object(
                Dictionary(
                    shown.map { ($0.name, $0.shape.exampleValue($0.name, isRequest: isRequest)) },
                    uniquingKeysWith: { first, _ in first }))
        case .oneOf(let shapes, _): return shapes.first?.exampleValue(name, isRequest: isRequest) ?? .null
        case .named(_, let shape): return shape.exampleValue(name, isRequest: isRequest)
        }
    }

    /// Returns the `example` or `examples` of a Media Type Object (OpenAPI Specification 3.1.1 section 4.8.14).
    ///
    /// - Parameter wrap: puts the value into the envelope of the answer.
    func examples(isRequest: Bool, _ wrap: (JSONValue) -> JSONValue = { $0 }) -> (name: String, value: JSONValue) {
        guard case .oneOf(let shapes, let member?) = unnamed.form, example == nil else {
            return ("example", wrap(exampleValue(isRequest: isRequest)))
        }
        var examples: [String: JSONValue] = [:]
        for shape in shapes {
            let value = shape.exampleValue(isRequest: isRequest)
            guard case .object(let members) = value, case .string(let word)? = members[member] else { continue }
            examples[word] = .object(["value": wrap(value)])
        }
        return ("examples", .object(examples))
    }

    /// The shape without its name.
    var unnamed: Shape {
        guard case .named(_, let shape) = form else { return self }
        return shape
    }

    private static func text(_ name: String, _ length: ClosedRange<Int>?) -> String {
        let text = texts[name] ?? "text"
        guard let length, text.unicodeScalars.count > length.upperBound else { return text }
        return String(text.prefix(length.upperBound))
    }

    private static let texts: [String: String] = [
        "account": "stripe-main", "account_id": "stripe-main", "actor": "partner:acme", "action": "order.paid",
        "bundle_id": "com.example.app", "code": "vip_month", "conclusion": "Active until 2025-01-14.",
        "country_code": "CN", "cursor": "MTczNjg2MDAwMA", "detail": "", "display_name": "Stripe",
        "field": "quantity", "id": "vip_month", "key": "pdk_EXAMPLE", "kind": "stripe", "locale": "zh-Hans",
        "meter": "messages", "message": "Done.", "msg": "success", "name": "VIP monthly",
        "next_cursor": "MTczNjg2MDAwMA", "original_transaction_id": "2000000900000001", "partner": "acme",
        "plan_code": "monthly", "processor": "stripe-main", "product_id": "com.example.vip.month",
        "provider": "stripe-main", "reason": "goodwill", "reference": "pi_3Qx2", "request_id": "req_01jdgk4zs8",
        "sku": "vip_month", "stack_group": "VIP", "subject": "order", "text": "Paid through stripe-main.",
        "tier": "VIP", "transaction_id": "2000000900000001", "type": "order.paid", "unit": "coins",
        "user_id": "user-42", "version": "1.0.0",
    ]
    private static let numbers: [String: Int64] = [
        "amount": 5, "balance": 95, "coins": 100, "days": 30, "duration_days": 30, "limit": 50, "number": 7,
        "poll_after_ms": 2_000, "rank": 20, "remaining": 7, "subscribe_id": 1_001, "used": 3,
    ]
    private static let keys: [String: String] = [
        "attributes": "range_km", "balances": "coins", "credited": "coins", "localizations": "zh-Hans",
        "metadata": "campaign", "sandbox_balances": "coins", "units": "coins",
    ]
    private static let usuallyFalse: Set<String> = [
        "client_fallback", "is_family_shared", "one_period_elsewhere", "overridden", "perpetual", "recurring", "stale",
        "unfenced",
    ]
}
