import Domain

/// The sentences of an explanation about store purchases, grants, balances and current entitlements.
struct OwnershipSentences: Sendable {
    let language: ExplanationLanguage

    private func pick(_ english: String, _ chinese: String) -> String { language.pick(english, chinese) }

    // MARK: Purchases

    func sale(_ item: String, _ product: String, until end: String?, isRenewal: Bool, _ date: String) -> String {
        let until = end.map { pick(" until \($0)", "，有效至 \($0)") } ?? ""
        return isRenewal
            ? pick(
                "On \(date), “\(item)” (\(product)) was renewed in the App Store\(until).",
                "\(date)，“\(item)”（\(product)）在 App Store 续订\(until)。")
            : pick(
                "On \(date), “\(item)” (\(product)) was bought in the App Store\(until).",
                "\(date)，在 App Store 购买“\(item)”（\(product)）\(until)。")
    }

    func testPurchase(_ purchase: StorePurchase) -> String {
        guard purchase.isFromBox else { return testPurchase(purchase.environment.rawValue) }
        return pick(
            "It is a test purchase in the App Store in a box (\(purchase.environment.rawValue), box: true).",
            "这是在本机 App Store 中的测试购买（\(purchase.environment.rawValue)，box: true）。")
    }

    func testPurchase(_ environment: String) -> String {
        pick("It is a test purchase (\(environment)).", "这是一次测试购买（\(environment)）。")
    }

    func unmapped(_ product: String, _ date: String) -> String {
        pick(
            "On \(date), \(product) was bought in the App Store, which the shop does not know yet; the purchase is kept.",
            "\(date)，在 App Store 购买了 \(product)，商店尚未配置该商品；购买记录已保留。")
    }

    func upgraded(_ item: String) -> String {
        pick("“\(item)” was replaced by another product of its group.", "“\(item)”已被同组的其他商品取代。")
    }

    /// - Parameter share: the share of the price in thousandths of a percent.
    func takenBackByStore(_ item: String, _ share: Int64?, _ date: String) -> String {
        guard let share, share < Order.wholeShare else {
            return pick("On \(date), Apple took back the purchase of “\(item)”.", "\(date)，Apple 撤销了“\(item)”的购买。")
        }
        let percent = Self.percent(share)
        return pick(
            "On \(date), Apple refunded \(percent) % of “\(item)”.", "\(date)，Apple 退还了“\(item)”的 \(percent)%。")
    }

    /// Formats thousandths of a percent as percent, without zeros at the end: 33.333, 40.
    private static func percent(_ share: Int64) -> String {
        let (whole, rest) = share.quotientAndRemainder(dividingBy: 1_000)
        guard rest > 0 else { return "\(whole)" }
        var digits = String(String(1_000 + rest).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(whole).\(digits)"
    }

    func sharingEnded(_ item: String, _ date: String) -> String {
        pick("On \(date), “\(item)” was no longer shared with this account.", "\(date)，“\(item)”不再与本账户共享。")
    }

    func follows(_ item: String, _ start: String) -> String {
        pick("From \(start), “\(item)” follows, which is paid already.", "自 \(start) 起接续已支付的“\(item)”。")
    }

    func reinstatedByStore(_ item: String, _ date: String) -> String {
        pick("On \(date), Apple reinstated the purchase of “\(item)”.", "\(date)，Apple 恢复了“\(item)”的购买。")
    }

    func givenAfterAll(_ item: String, _ date: String) -> String {
        pick(
            "On \(date), “\(item)” was given after all, as nothing else gives it any more.",
            "\(date)，因已无其他来源，补发“\(item)”。")
    }

    func movedHere(_ item: String, _ date: String) -> String {
        pick(
            "On \(date), the purchase of “\(item)” came to this account from another one.",
            "\(date)，“\(item)”的购买从另一账户转入本账户。")
    }

    func movedAway(_ item: String, _ date: String) -> String {
        pick(
            "On \(date), the purchase of “\(item)” went from this account to another one, with what it gives.",
            "\(date)，“\(item)”的购买及其权益已转到另一账户。")
    }

    func consentWithdrawn(_ date: String) -> String {
        pick(
            "On \(date), the App Store said that the consent to use the app was withdrawn; that takes nothing back.",
            "\(date)，应用商店告知使用该应用的同意已被撤回；已拥有的内容不受影响。")
    }

    // MARK: Grants

    func span(_ item: String, _ start: String, _ end: String?) -> String {
        guard let end else { return pick("“\(item)” is given from \(start) for ever.", "“\(item)”自 \(start) 起永久有效。") }
        return pick("“\(item)” is given from \(start) until \(end).", "“\(item)”自 \(start) 起生效，至 \(end)。")
    }

    func givenBySupport(_ item: String, _ reason: String?, _ date: String) -> String {
        pick(
            "On \(date), the support gave “\(item)”\(noted(reason)).", "\(date)，客服赠予“\(item)”\(noted(reason))。")
    }

    func givenByPartner(_ item: String, _ reason: String?, _ date: String) -> String {
        pick("On \(date), a partner gave “\(item)”\(noted(reason)).", "\(date)，合作方赠予“\(item)”\(noted(reason))。")
    }

    private func noted(_ reason: String?) -> String { reason.map { pick(" (reason: \($0))", "（原因：\($0)）") } ?? "" }

    func stacked(_ item: String, _ start: String, _ before: String?) -> String {
        let behind = before.map { pick(", when “\($0)” before it ends", "（接在“\($0)”之后）") } ?? ""
        return pick(
            "Passes follow one another, so “\(item)” begins on \(start)\(behind).",
            "会员时长依次顺延，因此“\(item)”于 \(start) 开始\(behind)。")
    }

    func worthless(_ item: String) -> String {
        pick("Test purchases give this account nothing, so “\(item)” does not count.", "测试购买对本账户无效，“\(item)”不计入。")
    }

    func bounded(_ item: String, _ end: String) -> String {
        pick(
            "A test purchase counts for a limited time only, so “\(item)” ends on \(end).",
            "测试购买仅在有限时间内有效，因此“\(item)”于 \(end) 结束。")
    }

    func revoked(_ item: String, _ reason: Grant.Revocation.Reason, _ date: String) -> String {
        switch reason {
        case .refund: pick("On \(date), “\(item)” was taken back, as it was refunded.", "\(date)，因退款收回“\(item)”。")
        case .dispute: pick("On \(date), “\(item)” was taken back after the dispute.", "\(date)，因争议收回“\(item)”。")
        case .admin: pick("On \(date), the support took “\(item)” back.", "\(date)，客服收回“\(item)”。")
        }
    }

    func ended(_ item: String, _ date: String) -> String {
        pick("On \(date), “\(item)” ended.", "\(date)，“\(item)”到期。")
    }

    // MARK: Balances

    func credited(_ amount: Int64, _ unit: String, _ isTest: Bool, _ date: String) -> String {
        let test = isTest ? pick(" (test money)", "（测试）") : ""
        return pick("On \(date), \(amount) \(unit) were credited\(test).", "\(date)，入账 \(amount) \(unit)\(test)。")
    }

    func uncredited(_ amount: Int64, _ unit: String, _ date: String) -> String {
        pick("On \(date), \(amount) \(unit) were taken back.", "\(date)，收回 \(amount) \(unit)。")
    }

    func debited(_ amount: Int64, _ unit: String, _ date: String) -> String {
        pick("On \(date), \(amount) \(unit) were used.", "\(date)，使用 \(amount) \(unit)。")
    }

    // MARK: Conclusion

    func asOf(_ date: String) -> String { pick("As of \(date):", "截至 \(date)：") }

    var nothingOwned: String { pick("Nothing is owned.", "没有任何权益。") }

    func membership(_ tier: String, _ end: String?) -> String {
        guard let end else { return pick("The membership \(tier) is held for ever.", "会员等级 \(tier) 永久有效。") }
        return pick("The membership \(tier) is held until \(end).", "会员等级 \(tier) 有效至 \(end)。")
    }

    func owned(_ item: String, _ end: String?) -> String {
        guard let end else { return pick("“\(item)” is owned for ever.", "“\(item)”永久有效。") }
        return pick("“\(item)” is owned until \(end).", "“\(item)”有效至 \(end)。")
    }

    func begins(_ item: String, _ start: String) -> String {
        pick("“\(item)” begins on \(start).", "“\(item)”将于 \(start) 开始。")
    }

    func suspended(_ item: String) -> String {
        pick("“\(item)” is suspended while a dispute is open.", "“\(item)”因争议处理中而暂停。")
    }

    func wasTaken(_ item: String, _ date: String) -> String {
        pick("“\(item)” is not owned; it was taken back on \(date).", "未拥有“\(item)”；已于 \(date) 收回。")
    }

    func isOver(_ item: String, _ date: String) -> String {
        pick("“\(item)” is not owned any more; it ended on \(date).", "“\(item)”已于 \(date) 到期。")
    }

    func notOwned(_ item: String) -> String { pick("“\(item)” is not owned.", "未拥有“\(item)”。") }

    func balance(_ unit: String, _ amount: Int64) -> String {
        pick("The balance of \(unit) is \(amount).", "\(unit) 余额为 \(amount)。")
    }
}
