import Domain

/// A template's context, without the members that are nil.
typealias Context = [String: Any]

func context(_ members: KeyValuePairs<String, Any?>) -> Context {
    var context: Context = [:]
    for (name, value) in members {
        if let value { context[name] = value }
    }
    return context
}

/// The contexts of the cashier's templates; `Assets/sdk/present.js` makes the same in the browser.
struct CashierContext {
    let frame: CashierFrame
    let t: PageTexts

    var state: PageState { frame.state }
    var locale: PageLocale { frame.locale }
    var methodWords: MethodWords { MethodWords(t: t) }

    /// Returns the name of the template of the state and its context.
    var body: (template: String, context: Context) {
        guard case .cashier(let state) = state, let session = frame.session else { return ("message", message) }
        switch state {
        case .plans: return ("plans", plans(session))
        case .methods: return ("methods", methods(session))
        case .paid: return session.order.map { ("paid", paid(session, $0)) } ?? ("message", message)
        case .qr: return session.contract.map { ("qr", qr(session, $0)) } ?? ("message", message)
        case .redirect: return session.contract.map { ("redirect", redirect(session, $0)) } ?? ("message", message)
        case .stripe: return session.contract.map { ("stripe", stripe(session, $0)) } ?? ("message", message)
        case .applePay: return ("apple_pay", applePay(session))
        case .appleIAP: return ("apple_iap", appleIAP(session))
        case .wechatJSAPI: return ("wechat_jsapi", wechat(session))
        case .checking, .closed, .owned, .unavailable, .attention: return ("message", message)
        }
    }

    /// The title of the state, in words.
    func title(_ template: String, _ own: Context) -> String {
        if let title = own["title"] as? String { return title }
        switch template {
        case "plans": return t["plans_title"]
        case "stripe": return t["stripe_title"]
        case "apple_pay": return t["apple_pay_title"]
        case "apple_iap": return t["apple_iap_title"]
        case "wechat_jsapi": return t["wechat_title"]
        default: return ""
        }
    }

    /// The attributes of `<main>`.
    var main: Context {
        let (session, order) = (frame.session, frame.session?.order)
        let contract = session?.contract
        return context([
            "state": state.word, "session": session?.id, "order": order?.id,
            "payment": order?.newest?.id ?? contract?.payment_id, "setup": contract?.setup_id,
            "order_status": order?.status, "payment_status": order?.newest?.status ?? contract?.status,
            "environment": order?.environment, "next_action": order?.next_action, "reason": frame.reason,
            "manage": state == .cashier(.owned) ? session?.manage : nil,
        ])
    }

    /// The alert of the last act, else of a failed or cancelled attempt.
    var alert: Context? {
        if let alert = frame.alert {
            let request = frame.requestID.map { t.fill("alert_request_id", ["id": $0]) }
            return context([
                "reason": alert.rawValue, "title": t["alert_\(alert.rawValue)"],
                "text": t["alert_\(alert.rawValue)_text"], "request_id": request, "mild": false,
            ])
        }
        guard state == .cashier(.methods), let order = frame.session?.order, order.next_action == "retry" else {
            return nil
        }
        // A trial has no payment, and its set-up says in the contract how it ended.
        let newest = order.newest
        guard (newest?.status ?? frame.session?.contract?.status) == "failed" else {
            return context([
                "reason": "cancelled", "title": t["alert_cancelled"], "text": t["alert_cancelled_text"], "mild": true,
            ])
        }
        let message = newest?.failure.flatMap { $0.message.isEmpty ? nil : PageWords.sentences($0.message) }
        return context([
            "reason": "failed", "failure": newest?.failure?.reason, "title": message?.first ?? t["alert_failed"],
            "text": message == nil ? t["alert_failed_text"] : message?.rest, "mild": false,
        ])
    }

    /// The state in words for those who cannot see it.
    func live(_ template: String, _ title: String) -> String {
        switch template {
        case "qr", "redirect", "apple_iap", "wechat_jsapi": return t["waiting"]
        case "stripe": return t["stripe_live"]
        case "methods":
            let reason = alert?["reason"] as? String
            return reason == "failed" || reason == "cancelled" ? t["methods_live_failed"] : title
        default: return title
        }
    }

    // MARK: Parts of several states

    func summary(_ session: SessionFacts) -> Context {
        context(["name": name(session), "period": PageWords.period(product(session), days: days(session), t)])
            .merging(sum(session)) { $1 }
    }

    /// The quiet ways out of a state.
    func ways(_ session: SessionFacts, check: Bool = false) -> Context {
        let mayChoose = frame.now < session.expires_at
        return context([
            "check": check ? true : nil, "other_method": state.isPaying && mayChoose ? "?view=methods" : nil,
            "other_plan": session.skus.count > 1 && mayChoose ? "?view=plans" : nil,
            "cancel": session.order?.status == "open",
        ])
    }

    /// The way back with the order's id, before an order the address of giving up.
    func back(_ session: SessionFacts, _ key: String) -> Context? {
        let address =
            if let order = session.order {
                session.return_url.map { ReturnAddress.of($0, order: order.id, status: order.status) }
            } else {
                session.cancel_url ?? session.return_url
            }
        return address.map { ["href": $0, "text": t.fill(key, ["shop": frame.branding.name])] }
    }

    /// The plan that the state is about: in a choice the payer's, else the order's.
    private func plan(_ session: SessionFacts) -> (sku: String, days: Int64?) {
        let chosen = session.chosen.map { ($0.sku, $0.days ?? session.days) }
        let ordered = session.order.map { ($0.sku, $0.days) }
        let first = (session.skus.first ?? "", session.days)
        return state == .cashier(.methods) ? chosen ?? ordered ?? first : ordered ?? chosen ?? first
    }

    func product(_ session: SessionFacts) -> ProductFacts {
        let sku = plan(session).sku
        return frame.products.first { $0.sku == sku } ?? ProductFacts(unknown: sku)
    }

    func days(_ session: SessionFacts) -> Int64? { plan(session).days }

    /// The name, with the quantity where there are several.
    func name(_ session: SessionFacts) -> String {
        let (name, count) = (product(session).name, session.order?.quantity ?? session.quantity)
        return count > 1 ? t.fill("times", ["name": name, "count": "\(count)"]) : name
    }

    /// The amount to pay: the contract's, else the order's, else the price.
    func money(_ session: SessionFacts) -> Money {
        let (product, days, order) = (product(session), days(session), session.order)
        let prices = product.options.first { $0.days == days }?.prices ?? product.prices
        let price = prices.first { session.currency == nil || $0.currency == session.currency }
        let isTrial = product.isManaged && (product.trial_days ?? 0) > 0 && order == nil
        let listed = price.map {
            isTrial
                ? Money(value: 0, currency: $0.currency) : (try? $0.multiplied(by: session.quantity)) ?? $0
        }
        let isOther = order.map { $0.sku != product.sku || $0.days != days } ?? false
        let isChoice = state == .cashier(.methods) && (order?.status == "closed" || isOther)
        return (state.isPaying ? session.contract?.amount : nil) ?? (isChoice ? listed : nil) ?? order?.charged
            ?? order?.amount ?? listed ?? Money(value: 0, currency: session.currency ?? .cny)
    }

    func amount(_ money: Money) -> String { money.value == 0 ? t["free"] : PageWords.amount(money, locale) }

    func sum(_ session: SessionFacts) -> Context { shown(money(session)) }

    func shown(_ money: Money) -> Context {
        ["amount": amount(money), "value": money.value, "currency": money.currency.code]
    }

    /// The running attempt's method.
    func runningMethod(_ session: SessionFacts) -> MethodFacts {
        let contract = session.contract
        let account = contract?.provider ?? session.order?.provider ?? ""
        let own = frame.methods.filter { $0.account == account }
        return own.first { contract == nil || $0.type == contract?.type } ?? own.first
            ?? MethodFacts(account: account, kind: "", display_name: account, type: contract?.type ?? .none)
    }

    func receipt(_ session: SessionFacts, _ order: OrderFacts) -> Context {
        let account = order.payments.first { $0.status == "succeeded" }?.provider ?? order.provider
        let method = account.map { account in
            frame.methods.first { $0.account == account }.map(methodWords.name) ?? account
        }
        let returned = order.refunded.flatMap { $0.value > 0 ? $0 : nil }
        let date = order.paid_at.map { paid -> Context in
            ["datetime": PageWords.iso(paid), "text": PageWords.minute(paid, locale)]
        }
        let refunded = returned.map { money -> Context in
            ["text": PageWords.amount(money, locale), "value": money.value, "currency": money.currency.code]
        }
        return context([
            "shop": frame.branding.name, "amount": amount(money(session)), "item": name(session), "order": order.id,
            "method": method, "date": date, "refunded": refunded, "lines": frame.branding.merchant_lines,
        ])
    }
}
