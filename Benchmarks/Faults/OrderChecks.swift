extension Checker {
    /// Checks that a key made one order, for the user who asked.
    mutating func checkCheckouts() {
        let made = Dictionary(grouping: facts.orders.values.filter { $0.origin == "checkout" }, by: \.metadata)
        for (key, checkout) in expected.checkouts {
            let cart = checkout.cart
            let orders = made[cart.metadata] ?? []
            require(checkout.told.count <= 1, "key \(key): told different orders")
            require(orders.count <= 1, "key \(key): made \(orders.count) orders")
            if let told = checkout.told.first {
                require(orders.first?.id == told.id, "key \(key): order \(told.id) is not there")
                let payments = facts.payments[told.id] ?? []
                require(
                    payments.count == 1 && payments.first?.id == told.payment
                        && payments.first?.account == cart.account,
                    "order \(told.id): its payment is not the one that was told")
            } else if let order = orders.first {
                // No client knows this order yet, so none can have paid or cancelled it.
                let mayBe = cart.isPaidAtOnce ? ["open", "paid"] : ["open"]
                require(mayBe.contains(order.state), "order \(order.id): is \(order.state), and nobody knows it")
            }
            for order in orders {
                require(
                    order.user == cart.user && order.quantity == cart.quantity && order.sku == cart.sku,
                    "order \(order.id): is not what was asked for")
                checkEffects(of: order, cart)
            }
        }
    }

    /// Checks that a paid order gave its goods once and announced it once, and that any other order gave nothing.
    private mutating func checkEffects(of order: Facts.Order, _ cart: Cart) {
        let isPaid = order.state == "paid"
        let payments = facts.payments[order.id] ?? []
        require(
            payments.count { $0.state == "succeeded" } == (isPaid ? 1 : 0),
            "order \(order.id): is \(order.state) with payments \(payments.map(\.state))")
        let source = Facts.Source(kind: "order", id: order.id)
        let refunded = payments.reduce(0) { $0 + $1.refunded }
        let isReturned = isPaid && refunded == cart.price
        let grants = facts.grants[source] ?? []
        require(
            grants.count == (isPaid && !cart.isConsumable ? 1 : 0)
                && grants.allSatisfy { $0.user == cart.user && $0.isRevoked == isReturned },
            "order \(order.id): is \(order.state), \(refunded) refunded, with \(grants.count) grants")
        let credits = facts.credits[source] ?? 0
        require(
            credits == (isPaid && cart.isConsumable ? 1 : 0),
            "order \(order.id): is \(order.state) and credited \(credits) times")
        let announced = facts.announced[order.id] ?? [:]
        require(announced["order.opened"] == 1, "order \(order.id): its opening was not announced once")
        require(
            announced["order.paid"] ?? 0 == (isPaid ? 1 : 0),
            "order \(order.id): is \(order.state), announced as paid \(announced["order.paid"] ?? 0) times")
        let succeeded = (facts.refunds[order.id] ?? []).filter { $0.state == "succeeded" }
        require(
            Int(announced["refund.succeeded"] ?? 0) == succeeded.count
                && succeeded.reduce(0) { $0 + $1.amount } == refunded,
            "order \(order.id): its refunds are not what was announced")
    }

    /// Checks that acknowledged payments, cancellations and refunds are in the database.
    mutating func checkEndings() {
        for event in expected.acknowledgedRumours {
            require(facts.notifications[event] != nil, "notification \(event): was acknowledged and is not there")
        }
        for (id, ending) in expected.endings {
            for event in ending.acknowledged {
                require(facts.notifications[event] != nil, "notification \(event): was acknowledged and is not there")
            }
            let state = facts.orders[id]?.state ?? "not there"
            require(
                !ending.isNotCharged || state != "paid", "order \(id): is paid, and told that its token is not charged")
            if ending.mustBePaid {
                require(state == "paid", "order \(id): is \(state), and somebody was told that it is paid")
            } else if ending.cancelled {
                require(
                    state == "closed" || (state == "paid" && ending.mayBePaid),
                    "order \(id): is \(state), and somebody was told that it is closed")
            }
            require(state != "paid" || ending.mayBePaid, "order \(id): is paid, and nobody paid it")
            require(state != "closed" || ending.cancellations > 0, "order \(id): is closed, and nobody cancelled it")
            checkRefund(ending)
        }
    }

    private mutating func checkRefund(_ ending: Expectation.Ending) {
        let id = ending.order.id
        let refunds = facts.refunds[id] ?? []
        require(ending.refunds.count <= 1, "order \(id): told different refunds under one key")
        require(!ending.isNotRefunded || refunds.isEmpty, "order \(id): told that nothing is refunded, and it is")
        require(refunds.count <= (ending.refund == nil ? 0 : 1), "order \(id): has \(refunds.count) refunds")
        require(!ending.failedAtOnce, "order \(id): its refund failed, and nothing was lost on its way")
        if let (told, wentBack) = ending.refunds.first {
            require(
                refunds.first?.id == told && refunds.first?.state == (wentBack ? "succeeded" : "failed"),
                "order \(id): refund \(told) is not there, or is \(refunds.first?.state ?? "nothing")")
        }
        for refund in refunds {
            require(refund.amount == ending.refund, "order \(id): refund \(refund.id) is of \(refund.amount)")
        }
    }
}

extension Cart {
    var sku: String { goods.sku }
    var price: Int64 { goods.price * quantity }

    private var goods: Configuration.Goods { isConsumable ? Configuration.coins : Configuration.pass }
}
