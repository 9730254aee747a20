import Domain

/// The sentences of an explanation about orders, payments, refunds and disputes.
struct OrderSentences: Sendable {
    let language: ExplanationLanguage

    private func pick(_ english: String, _ chinese: String) -> String { language.pick(english, chinese) }

    // MARK: Orders

    func ordered(_ item: String, _ quantity: Int64, _ price: Money?, _ date: String) -> String {
        let (times, pieces) = quantity == 1 ? ("", "") : ("\(quantity) × ", " \(quantity) 份")
        guard let price else {
            return pick("On \(date), \(times)“\(item)” was ordered.", "\(date)，订购\(pieces)“\(item)”。")
        }
        if price.isZero {
            return pick("On \(date), \(times)“\(item)” was ordered for free.", "\(date)，免费订购\(pieces)“\(item)”。")
        }
        return pick(
            "On \(date), \(times)“\(item)” was ordered for \(price).", "\(date)，订购\(pieces)“\(item)”，金额 \(price)。")
    }

    func paymentFailed(_ date: String) -> String { pick("On \(date), an attempt to pay failed.", "\(date)，一次支付未成功。") }

    func paymentCancelled(_ date: String) -> String {
        pick("On \(date), an attempt to pay was cancelled.", "\(date)，一次支付被取消。")
    }

    func paymentArrived(_ amount: Money?, _ date: String) -> String {
        pick("On \(date), a payment\(of(amount)) arrived.", "\(date)，收到付款\(spaced(amount))。")
    }

    func orderPaid(_ date: String) -> String { pick("On \(date), the order was paid.", "\(date)，订单已支付。") }

    func orderPaidByStore(_ date: String) -> String {
        pick("On \(date), the order was paid by an App Store purchase.", "\(date)，订单由 App Store 购买完成支付。")
    }

    func orderFree(_ date: String) -> String {
        pick("On \(date), the order was complete, as it costs nothing.", "\(date)，订单无需付款，已完成。")
    }

    func orderClosed(_ date: String) -> String {
        pick("On \(date), the order was closed without a payment.", "\(date)，订单未付款，已关闭。")
    }

    // MARK: Refunds and disputes

    func refundStarted(_ amount: Money?, _ date: String) -> String {
        pick("On \(date), a refund\(of(amount)) was started.", "\(date)，发起退款\(spaced(amount))。")
    }

    func refundDone(_ amount: Money?, _ date: String) -> String {
        pick("On \(date), a refund\(of(amount)) was paid out.", "\(date)，退款\(spaced(amount)) 已完成。")
    }

    func refundFailed(_ amount: Money?, _ date: String) -> String {
        pick("On \(date), a refund\(of(amount)) did not go through.", "\(date)，退款\(spaced(amount)) 未成功。")
    }

    func disputeOpened(_ amount: Money?, _ date: String) -> String {
        pick(
            "On \(date), the payer disputed a payment\(of(amount)); what it bought is suspended until that is decided.",
            "\(date)，付款人对付款\(spaced(amount)) 提出争议；在有结果之前，所购内容暂停使用。")
    }

    func disputeWon(_ date: String) -> String {
        pick("On \(date), the dispute was decided for the shop.", "\(date)，争议判定商家胜诉。")
    }

    func disputeLost(_ date: String) -> String {
        pick(
            "On \(date), the dispute was decided for the payer, who got the money back.",
            "\(date)，争议判定付款人胜诉，款项已退回。")
    }

    func anomaly(_ anomaly: Anomaly, _ date: String) -> String {
        switch anomaly {
        case .latePayment:
            pick("On \(date), a payment arrived after the order was closed.", "\(date)，订单关闭后收到付款。")
        case .duplicatePayment: pick("On \(date), the order was paid a second time.", "\(date)，订单被重复支付。")
        case .duplicateOwnership:
            pick(
                "On \(date), something was paid for that was owned already; it was not given twice.",
                "\(date)，所付商品此前已拥有，未重复发放。")
        case .amountMismatch:
            pick(
                "On \(date), another amount than the price was reported; nothing was given for it.",
                "\(date)，收到的金额与价格不符，未发放商品。")
        case .revivedPayment:
            pick("On \(date), a payment that had failed succeeded after all.", "\(date)，此前失败的支付最终成功。")
        case .kindMismatch:
            pick(
                "On \(date), the store had sold another kind of product than the catalogue says.",
                "\(date)，商店售出的商品类型与目录不一致。")
        case .disputeCurrency:
            pick(
                "On \(date), a dispute was reported in another currency; it counts for the whole payment.",
                "\(date)，收到其他币种的争议，按整笔付款处理。")
        case .contradictingFact:
            pick(
                "On \(date), the payment provider said something that contradicts what it said before; it was noted.",
                "\(date)，支付渠道的通知与之前不一致，已记录。")
        }
    }

    private func of(_ amount: Money?) -> String { amount.map { " of \($0)" } ?? "" }

    private func spaced(_ amount: Money?) -> String { amount.map { " \($0)" } ?? "" }
}
