import Domain

/// The context of `card.mustache`: the cashier's states for the payment method of a subscription.
struct PortalCard {
    private let portal: PortalContext
    private let subscription: SubscriptionFacts
    private let card: CardFacts

    init(portal: PortalContext, _ subscription: SubscriptionFacts, _ card: CardFacts) {
        (self.portal, self.subscription, self.card) = (portal, subscription, card)
    }

    private var frame: PortalFrame { portal.frame }
    private var t: PageTexts { portal.t }
    /// True where a renewal is paid here, and not a payment method alone replaced.
    private var pays: Bool { card.order_id != nil }

    var body: PortalContext.Body {
        let inner = part
        let title = inner.context["title"] as? String ?? ""
        var all = inner.context
        all["title"] = title
        let main = context([
            "subscription": subscription.id, "subscription_status": subscription.status,
            "environment": subscription.environment, "order": card.order_id,
            "payment": card.contract?.payment_id, "setup": card.contract?.setup_id,
        ])
        let template = context([
            "title": title, "state": inner.state, "contract": contract, "details": details,
            inner.template: all,
        ])
        return PortalContext.Body(
            template: "card",
            context: template.merging(context(["own_alert": alert])) { $1 }, main: main, live: inner.live,
            isWaiting: ["redirect", "qr", "checking"].contains(inner.state))
    }

    private struct Part {
        let state: String
        let template: String
        var context: Context
        var live: String?
    }

    private var details: String { "\(frame.home ?? "")/subscriptions/\(subscription.id)" }

    /// The cashier's context of the contract, which knows how each type is shown.
    private var cashier: (context: CashierContext, session: SessionFacts) {
        let sku = subscription.sku ?? subscription.id
        let state: CashierState? =
            switch (card.state, card.contract?.type) {
            case ("open", .url): .redirect
            case ("open", .qr): .qr
            case ("open", .stripe): .stripe
            case ("checking", _): .checking
            case ("paid", _): .paid
            default: .methods
            }
        let session = SessionFacts(
            id: frame.own?.session ?? "", sku: sku,
            currency: card.amount?.currency ?? subscription.next_amount?.currency,
            expiresAt: frame.now.adding(seconds: 86_400), state: state, contract: card.contract)
        var inner = CashierFrame(
            .cashier(state ?? .methods), locale: frame.locale, branding: frame.branding, now: frame.now)
        inner.session = session
        inner.methods = card.methods
        inner.agent = frame.agent
        inner.products = [ProductFacts(managed: sku, name: portal.name(subscription), subscription.period)]
        inner.page = frame.address
        return (CashierContext(frame: inner, t: t), session)
    }

    private var waiting: String { t[pays ? "waiting" : "card_waiting"] }
    /// The words of "I have paid" where nothing is paid; nil for those of the cashier.
    private var checkText: String? { pays ? nil : t["card_check"] }

    private var part: Part {
        let (cashier, session) = cashier
        func shown(_ own: Context, _ more: KeyValuePairs<String, Any?>) -> Context {
            // An order of a renewal is not the payer's to cancel.
            var merged = own.merging(context(more)) { $1 }
            merged["summary"] = summary
            for name in ["cancel", "other_plan", "save"] { merged[name] = nil as Any? }
            return merged
        }
        switch session.state {
        case .redirect where card.contract != nil:
            let own = card.contract.map { cashier.redirect(session, $0) } ?? [:]
            let lead = pays ? own["lead"] : t["card_away"]
            return Part(
                state: "redirect", template: "redirect",
                context: shown(own, ["lead": lead, "check_text": checkText]), live: waiting)
        case .qr where card.contract != nil:
            let own = card.contract.map { cashier.qr(session, $0) } ?? [:]
            return Part(
                state: "qr", template: "qr", context: shown(own, ["check_text": checkText]), live: waiting)
        case .stripe where card.contract != nil:
            let own = card.contract.map { cashier.stripe(session, $0) } ?? [:]
            // A new method alone is saved; the cashier's words begin a subscription with it.
            let pay = own["pay"].map { pays ? $0 : t["card_save"] }
            return Part(
                state: "stripe", template: "stripe", context: shown(own, ["title": t["stripe_title"], "pay": pay]),
                live: t["stripe_live"])
        case .checking:
            let message: Context = [
                "title": t[pays ? "checking_title" : "card_checking_title"],
                "lead": t[pays ? "checking_lead" : "card_checking_lead"], "check": true, "back_first": false,
            ]
            return Part(state: "checking", template: "message", context: message)
        case .paid: return Part(state: "paid", template: "message", context: done)
        default:
            let own = cashier.methods(session)
            let note = t.fill(pays ? "card_note_pay" : "card_note", ["shop": frame.branding.name])
            let title = t[pays ? "methods_title" : "card_title"]
            return Part(
                state: "methods", template: "methods",
                context: shown(own, ["title": title, "note": card.methods.isEmpty ? t["card_none"] : note]))
        }
    }

    private var summary: Context {
        let money = pays ? card.amount : nil
        let day = subscription.next_charge_at.map { PageWords.day($0, frame.locale) }
        let shown = (money ?? subscription.next_amount).map(portal.shown)
        let next = day.map { t.fill("card_next", ["date": $0]) }
        return context([
            "name": portal.name(subscription), "period": pays ? subscription.period.map(portal.period) : next,
        ]).merging(shown ?? [:]) { $1 }
    }

    private var done: Context {
        context([
            "sign": ["icon": "check", "tone": "good"], "title": t[pays ? "paid_title" : "card_done_title"],
            "lead": t.fill(pays ? "card_paid_lead" : "card_done_lead", ["name": portal.name(subscription)]),
            "back": frame.home.map { ["href": $0, "text": t["portal_back"]] as Context },
            "back_first": true, "other_method": pays ? nil : "?view=methods",
        ])
    }

    /// The end of the payer's last attempt, over the choice.
    private var alert: Context? {
        guard card.state == "methods", let failed = card.failed else { return nil }
        if failed == "cancelled" {
            return context([
                "reason": "cancelled", "title": t["alert_cancelled"], "text": t["card_cancelled_text"], "mild": true,
            ])
        }
        let message = card.failure.flatMap { $0.message.isEmpty ? nil : PageWords.sentences($0.message) }
        return context([
            "reason": "failed", "failure": card.failure?.reason, "title": message?.first ?? t["card_failed"],
            "text": message == nil ? t["card_failed_text"] : message?.rest, "mild": false,
        ])
    }

    /// The contract of a card's form, for the module.
    private var contract: Context? {
        guard let stripe = card.contract?.stripe, let secret = stripe.client_secret else { return nil }
        return ["key": stripe.publishable_key, "secret": secret, "setup": card.contract?.setup ?? false]
    }
}

extension SessionFacts {
    /// Makes the facts of a payment for one subscription.
    fileprivate init(
        id: String, sku: String, currency: Currency?, expiresAt: Timestamp, state: CashierState?,
        contract: ContractFacts?
    ) {
        self.init(
            id: id, skus: [sku], chosen: Plan(sku: sku, days: nil), quantity: 1, days: nil, currency: currency,
            return_url: nil, cancel_url: nil, expires_at: expiresAt, state: state, reason: nil, order: nil,
            contract: contract, granted: nil, terms: [:], manage: nil)
    }
}
