import Domain

/// The context of `overview.mustache`.
extension PortalContext {
    func overview(_ facts: OverviewFacts) -> Body {
        let balances = units(facts.balances, isTest: false) + units(facts.testBalances, isTest: true)
        let owned = facts.entitlements.map(entitlement)
        let subscriptions = facts.subscriptions.map { item($0) }
        let orders = facts.orders.map(line)
        let address = frame.home ?? ""
        let back = frame.own?.returnURL.map { url -> Context in
            ["href": url, "text": t.fill("back_to", ["shop": frame.branding.name])]
        }
        return Body(
            template: "overview",
            context: context([
                "title": t["portal_title"], "owned": owned, "balances": balances,
                "owns_nothing": owned.isEmpty && balances.isEmpty, "subscriptions": subscriptions,
                "has_subscriptions": !subscriptions.isEmpty, "orders": orders, "has_orders": !orders.isEmpty,
                "older": facts.nextCursor.map { "\(address)?cursor=\($0)" }, "newest": facts.isLater ? address : nil,
                "back": back,
            ]))
    }

    private func units(_ balances: [String: Int64], isTest: Bool) -> [Context] {
        balances.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { unit, count in
            ["unit": unit, "count": "\(count)", "test": isTest]
        }
    }

    private func entitlement(_ facts: EntitlementFacts) -> Context {
        let until: Context =
            switch facts.status {
            case "scheduled": dated("own_begins", facts.starts_at)
            case "revoked": plain("own_revoked")
            case "upgraded": plain("own_upgraded")
            case "suspended": plain("own_suspended")
            default:
                if let end = facts.expires_at {
                    dated(
                        end <= frame.now ? "own_ended" : facts.will_renew ? "own_until_renews" : "own_until", end)
                } else {
                    plain("own_for_good")
                }
            }
        return [
            "id": facts.id, "status": facts.status, "name": name(facts.sku), "tag": statusTag(facts.status),
            "what": until,
        ]
    }

    func statusTag(_ status: String) -> Context {
        let tones = [
            "active": "good", "in_grace_period": "warn", "in_billing_retry": "warn", "suspended": "warn",
        ]
        return tag("status_\(status)", tones[status])
    }

    func orderTag(_ status: String) -> Context {
        tag("order_\(status)", status == "paid" ? "good" : status == "open" ? "warn" : nil)
    }

    /// An order in a list.
    func line(_ order: OrderFacts) -> Context {
        let money = order.charged ?? order.amount
        return context([
            "id": order.id, "status": order.status, "name": name(order), "tag": orderTag(order.status),
            "date": (order.paid_at ?? order.created_at).map(day), "sum": money.map(sum),
            "href": "\(frame.home ?? "")/orders/\(order.id)",
        ])
    }

    func sum(_ money: Money) -> Context { shown(money) }

    /// The name of what an order sold, with the quantity where there are several.
    func name(_ order: OrderFacts) -> String {
        let name = name(order.sku)
        return order.quantity > 1 ? t.fill("times", ["name": name, "count": "\(order.quantity)"]) : name
    }
}
