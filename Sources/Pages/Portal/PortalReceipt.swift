import Domain

/// The context of `order.mustache`: an order as a receipt that can be printed.
extension PortalContext {
    func order(_ order: OrderFacts) -> Body {
        let total = order.charged ?? order.amount
        let isPaid = ["paid", "refunded", "partially_refunded"].contains(order.status)
        let title = t[isPaid ? "receipt_title" : "order_title"]
        let refunds = (order.refunds ?? []).filter { $0.status != "failed" && $0.status != "reversed" }
        let subscription = order.subscription_id.flatMap { id in
            frame.home.map { ["href": "\($0)/subscriptions/\(id)"] as Context }
        }
        let facts = context([
            "title": title, "shop": t.fill("receipt_from", ["shop": frame.branding.name]),
            "tag": orderTag(order.status), "sum": total.map(shown), "item": name(order),
            "created": isPaid ? nil : order.created_at.map(minute), "paid": order.paid_at.map(minute),
            "method": isPaid ? method(of: order) : nil, "order": order.id,
            "total": total.map(shown), "tax": order.tax.map(tax), "refunds": refunds.map(refund),
            "left": left(of: order, total), "lines": frame.branding.merchant_lines, "subscription": subscription,
            "support": support(order.id),
            // The store of an app has the tax receipt, which it sends itself.
            "from_store": isPaid && order.isFromStore ? t["receipt_from_store"] : nil,
        ])
        return Body(
            template: "order", context: facts,
            main: context([
                "order": order.id, "order_status": order.status, "environment": order.environment,
            ]))
    }

    /// The tax that the total contains; receipts have it only where it is known.
    private func tax(_ money: Money) -> Context { shown(money) }

    private func refund(_ refund: OrderFacts.RefundLine) -> Context {
        let isDone = refund.status == "succeeded"
        return context([
            "label": t[isDone ? "receipt_refund" : "receipt_refund_open"], "date": day(refund.created_at),
        ]).merging(shown(refund.amount)) { $1 }
    }

    /// The sum that the shop keeps; nil where nothing went back.
    private func left(of order: OrderFacts, _ total: Money?) -> Context? {
        guard let total, let back = order.refunded, back.value > 0, back.currency == total.currency else { return nil }
        return shown(Money(value: max(0, total.value - back.value), currency: total.currency))
    }

    /// The way by which an order was paid, in words.
    private func method(of order: OrderFacts) -> String? {
        let account = order.payments.first { $0.status == "succeeded" }?.provider ?? order.provider
        return account.map { account in
            frame.accounts.first { $0.account == account }.map(MethodWords(t: t).name) ?? account
        }
    }
}
