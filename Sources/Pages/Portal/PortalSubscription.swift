import Domain

/// The contexts of a subscription: its part of the overview, and `subscription.mustache`.
extension PortalContext {
    func item(_ facts: SubscriptionFacts) -> Context {
        let address = "\(frame.home ?? "")/subscriptions/\(facts.id)"
        return context([
            "id": facts.id, "status": facts.status, "source": facts.source, "name": name(facts), "tag": tag(facts),
            "what": what(facts), "facts": lines(facts), "subscription_address": address,
            "details": facts.isManaged ? address : nil, "store": !facts.isManaged,
        ]).merging(acts(facts)) { $1 }
    }

    private func acts(_ facts: SubscriptionFacts) -> Context {
        [
            "pay": facts.isRefused, "new_card": facts.mayCancel, "cancel_renewal": facts.mayCancel,
            "resume": facts.mayResume(at: frame.now),
        ]
    }

    private func tag(_ facts: SubscriptionFacts) -> Context {
        guard facts.status == "active" else { return statusTag(facts.status) }
        let word = facts.trial ? "sub_trial" : facts.will_renew ? "sub_renews" : "sub_ends"
        return tag(word, facts.will_renew ? "good" : "warn")
    }

    /// The sentence that says how it goes on; nil where the facts say it.
    func what(_ facts: SubscriptionFacts) -> Context? {
        switch facts.status {
        case "active":
            if facts.is_family_shared { return dated("sub_shared", facts.expires_at) }
            if !facts.will_renew { return dated("sub_until", facts.expires_at) }
            if facts.trial { return dated("sub_trial_until", facts.expires_at) }
            return facts.isManaged ? nil : dated("sub_store_renews", facts.expires_at)
        case "in_grace_period":
            guard facts.isManaged else { return plain("sub_store_refused") }
            guard facts.failed_at != nil else { return plain("sub_charging") }
            let end = facts.grace_expires_at
            return end.map { dated(refusalKey(facts, "sub_refused"), $0) } ?? plain("sub_refused_open")
        case "in_billing_retry": return plain(facts.isManaged ? refusalKey(facts, "sub_paused") : "sub_store_refused")
        case "suspended": return plain("sub_disputed")
        case "scheduled": return plain("sub_scheduled")
        case "upgraded": return plain("own_upgraded")
        case "revoked": return plain("own_revoked")
        default: return dated("own_ended", facts.ended_at ?? facts.expires_at)
        }
    }

    /// A payer who must confirm is told so; every other refusal has the same words.
    private func refusalKey(_ facts: SubscriptionFacts, _ key: String) -> String {
        facts.refusal == "action_required" ? "\(key)_confirm" : key
    }

    private func lines(_ facts: SubscriptionFacts) -> Context? {
        guard facts.isManaged, facts.isRunning else { return nil }
        let charge = facts.next_charge_at.map { at -> Context in
            context(["day": day(at), "sum": facts.next_amount.map(shown)])
        }
        let price = facts.price_change.map { change -> Context in
            context(["day": day(change.applies_at), "sum": shown(change.amount)])
        }
        let method = facts.payment_method.flatMap(words)
        let change = facts.change_to.map { name($0) }
        guard charge != nil || price != nil || method != nil || change != nil else { return nil }
        return context([
            "charge": charge, "retries": facts.failed_at != nil, "method": method, "change": change,
            "price": change == nil ? price : nil,
        ])
    }

    private func words(_ method: SubscriptionFacts.PaymentMethod) -> String? {
        let name = method.brand ?? method.label
        guard let last4 = method.last4, !last4.isEmpty else { return name }
        return t.fill("ending", ["name": Self.brand(name) ?? t["method_card"], "digits": last4])
    }

    /// Writes a brand with a capital, as its owner does: `visa` is how a provider names it.
    private static func brand(_ name: String?) -> String? {
        name.flatMap { name in name.first.map { $0.uppercased() + name.dropFirst() } }
    }

    // MARK: The page of one

    func subscription(_ facts: SubscriptionFacts, _ plans: [PlanFacts], _ look: PortalFrame.Look) -> Body {
        var main = context([
            "subscription": facts.id, "subscription_status": facts.status, "environment": facts.environment,
        ])
        switch look {
        case .question(let question):
            let asked = self.question(facts, question)
            main["asks"] = true
            return Body(
                template: "subscription", context: ["title": asked["title"] ?? "", "question": asked], main: main)
        case .plans:
            let title = t["plans_title"]
            return Body(
                template: "subscription",
                context: ["title": title, "plans": planList(facts, plans)], main: main)
        case .facts: return Body(template: "subscription", context: sheet(facts, plans), main: main)
        }
    }

    private func sheet(_ facts: SubscriptionFacts, _ plans: [PlanFacts]) -> Context {
        let present = plans.first(where: \.present)
        let plan = present.map { plan -> Context in
            ["sum": shown(plan.amount), "period": period(plan.period)]
        }
        let receipt = facts.orders.last.map { "\(frame.home ?? "")/orders/\($0)" }
        let isChangeable = facts.mayChange && plans.count > 1
        var own = item(facts)
        own["sheet_acts"] = true
        own["details"] = nil
        return context([
            "title": name(facts), "item": own, "plan": plan, "receipt": receipt,
            "change_plan": isChangeable ? "\(frame.address ?? "")?view=plans" : nil,
            "keep_plan": facts.change_to == nil ? nil : keep(facts), "support": support(facts.orders.last),
        ])
    }

    /// The button that takes a change of plan back.
    private func keep(_ facts: SubscriptionFacts) -> Context {
        ["sku": facts.sku ?? "", "text": t.fill("change_take_back", ["name": name(facts)])]
    }

    private func planList(_ facts: SubscriptionFacts, _ plans: [PlanFacts]) -> Context {
        let items = plans.map { plan -> Context in
            context([
                "sku": plan.sku, "name": plan.name, "help": plan.description.isEmpty ? nil : plan.description,
                "period": period(plan.period), "owned": plan.present, "next": plan.next && !plan.present,
                "choice": plan.next ? nil : ["sku": plan.sku] as Context,
            ]).merging(shown(plan.amount)) { $1 }
        }
        return ["items": items, "lead": dated("change_lead", facts.expires_at), "keep": frame.address ?? ""]
    }

    private func question(_ facts: SubscriptionFacts, _ question: PortalFrame.Question) -> Context {
        let name = name(facts)
        switch question {
        case .cancel:
            let isOver = frame.now >= facts.expires_at
            let sum = facts.next_amount.map(amount)
            let lead =
                isOver
                ? plain("cancel_now", ["name": name])
                : sum.map { dated("cancel_lead", facts.expires_at, ["name": name, "amount": $0]) }
                    ?? dated("cancel_lead_bare", facts.expires_at, ["name": name])
            return context([
                "title": t.fill("cancel_title", ["name": name]), "lead": lead, "act": "cancel_renewal",
                "confirm": t["cancel_confirm"], "danger": true, "keep": frame.address,
                "keep_text": t.fill("cancel_keep", ["name": name]),
            ])
        case .change(let plan):
            let values = ["name": plan.name, "amount": amount(plan.amount), "period": period(plan.period)]
            return context([
                "title": t.fill("change_title", ["name": plan.name]),
                "lead": dated("change_preview", facts.expires_at, values), "act": "change_plan", "sku": plan.sku,
                "confirm": t.fill("change_confirm", ["name": plan.name]), "danger": false, "keep": frame.address,
                "keep_text": t.fill("change_keep", ["name": name]),
            ])
        }
    }
}
