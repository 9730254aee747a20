import Domain

/// The context of `message.mustache`: every state that says one thing.
extension CashierContext {
    var message: Context {
        let (session, order) = (frame.session, frame.session?.order)
        let key = hasReasons ? frame.reason.map { "\(state.word)_\($0)" } ?? state.word : state.word
        let manages = state == .cashier(.owned) && session?.manage == "app_store"
        let lead = manages ? "owned_lead_app_store" : "\(key)_lead"
        let isClosed = state == .cashier(.closed)
        let isChecking = state == .cashier(.checking)
        let mayChoose = session.map { frame.now < $0.expires_at } ?? false
        let showsReceipt = state == .cashier(.attention) && order?.status != "open" && order?.status != "closed"
        let retry = isClosed && mayChoose
        let item = (isChecking || isClosed) && order != nil ? session.map(mini) : nil
        let goesOn = isChecking && order?.next_action == "pay" && mayChoose
        return context([
            "sign": sign, "title": t.fill("\(key)_title", values), "lead": t.fill(lead, values), "item": item,
            "number": state == .error ? frame.requestID : nil,
            "receipt": showsReceipt ? session.flatMap { session in order.map { receipt(session, $0) } } : nil,
            "retry": retry ? ((session?.skus.count ?? 0) > 1 ? "?view=plans" : "?view=methods") : nil,
            "back": isChecking ? nil : session.flatMap { back($0, "back_to") }, "back_first": !retry,
            "manage_app_store": manages, "support": support, "check": isChecking, "reload": frame.reload,
            "other_method": goesOn ? "?view=methods" : nil,
        ])
    }

    private var hasReasons: Bool { [.cashier(.closed), .cashier(.unavailable), .cashier(.attention)].contains(state) }

    private var values: [String: String] {
        guard let session = frame.session else { return [:] }
        let returned = session.order?.refunded.flatMap { $0.value > 0 ? $0 : nil }
        return [
            "name": name(session), "amount": amount(returned ?? money(session)),
            "currency": session.currency?.code ?? "",
        ]
    }

    private func mini(_ session: SessionFacts) -> Context {
        sum(session).merging(["name": name(session)]) { $1 }
    }

    private var support: Context? {
        let isAsked = [.cashier(.attention), .cashier(.unavailable), .expired].contains(state)
        guard isAsked, let address = frame.branding.support_url else { return nil }
        return ["href": address, "text": t[state == .cashier(.attention) ? "ask_support" : "write_support"]]
    }

    /// The icon and its tone; nil for the spinner of `checking`.
    private var sign: Context? {
        let sign: (icon: String, tone: String?)? =
            switch (state, frame.reason) {
            case (.cashier(.checking), _): nil
            case (.cashier(.closed), "cancelled"): ("x", nil)
            case (.cashier(.closed), _): ("clock", nil)
            case (.cashier(.owned), _): ("star", "good")
            case (.cashier(.unavailable), _): ("off", nil)
            case (.cashier(.attention), "amount_mismatch"): ("alert", "warn")
            case (.cashier(.attention), "held"), (.cashier(.attention), "dispute_open"): ("clock", "warn")
            case (.cashier(.attention), _): ("undo", nil)
            case (.elsewhere, _): ("window", nil)
            case (.expired, _): ("clock", nil)
            case (.unknown, _): ("off", nil)
            case (.busy, _): ("clock", "warn")
            default: ("alert", "bad")
            }
        return sign.map { context(["icon": $0.icon, "tone": $0.tone]) }
    }
}
