import Foundation

/// The state of a purchase as a screen shows it.
public enum PurchaseState: Sendable, Equatable {
    public enum Waiting: Sendable, Equatable {
        /// Somebody has to approve it.
        case approval
        /// Apple has the money; the server has not confirmed it yet.
        case confirmation
        /// The payer pays elsewhere.
        case payment
    }

    case notStarted
    case inProgress
    case purchased
    case pending(Waiting)
    case cancelled
    case failed(ClientFailure)

    /// The words for the customer; empty before anything happened.
    public func text(_ language: ClientLanguage) -> String {
        switch self {
        case .notStarted: ""
        case .inProgress: language.choose("Purchase in progress", "正在购买")
        case .purchased: language.choose("Purchased", "购买成功")
        case .pending(.approval):
            language.choose(
                "Waiting for approval. It is added here as soon as it is approved.", "等待批准。批准后会自动到账。")
        case .pending(.confirmation):
            language.choose(
                "Paid. The purchase is kept on this device and will be confirmed as soon as the server answers.",
                "已付款。购买记录已保存在本机，服务器恢复后会自动确认。")
        case .pending(.payment):
            language.choose(
                "Waiting for the payment. It is added here as soon as it is paid.", "等待付款。付款后会自动到账。")
        case .cancelled: language.choose("Purchase cancelled. Nothing was charged.", "已取消购买，没有扣款。")
        case .failed(let failure): failure.text(language)
        }
    }
}

/// The cause of a failed act on a screen.
public enum ClientFailure: Error, Sendable, Equatable {
    case store(StorefrontError)
    case server(PaydeskError)
    case snapshot(SnapshotRefusal)
    case alreadyOwned
    /// A payment did not succeed.
    case notPaid
    /// The App Store knows none of the products.
    case noProducts
    case other(String)

    init(_ error: any Error) {
        self =
            switch error {
            case let error as StorefrontError: .store(error)
            case let error as PaydeskError: .server(error)
            case let error as SnapshotRefusal: .snapshot(error)
            case let error as ClientFailure: error
            default: .other(error.localizedDescription)
            }
    }

    /// Words for the customer: what happened and what to do.
    public func text(_ language: ClientLanguage) -> String {
        switch self {
        case .store(let error): Self.text(error, language)
        case .server(let error): Self.text(error, language)
        case .snapshot:
            language.choose(
                "The server's answer could not be verified. Nothing was changed; try again later.",
                "无法验证服务器的回复。没有任何更改，请稍后再试。")
        case .alreadyOwned: language.choose("You own this already.", "已经拥有，无需重复购买。")
        case .notPaid:
            language.choose(
                "The payment did not succeed and nothing was charged. Try another way to pay.",
                "付款未成功，没有扣款。请换一种支付方式。")
        case .noProducts:
            language.choose("Nothing is on sale here at the moment. Try again later.", "目前没有可购买的商品，请稍后再试。")
        case .other(let words):
            language.choose("It did not work: \(words). Try again.", "操作失败：\(words)。请再试一次。")
        }
    }

    private static func text(_ error: StorefrontError, _ language: ClientLanguage) -> String {
        switch error {
        case .cancelled: PurchaseState.cancelled.text(language)
        case .invalidPayment:
            language.choose("The payment details are not valid. Nothing was charged.", "支付信息无效，没有扣款。")
        case .notAllowed:
            language.choose("Purchases are not allowed on this device.", "此设备不允许购买。")
        case .notAvailable:
            language.choose("This product is not available in your region.", "此商品在你所在的地区不可用。")
        case .noNetwork:
            language.choose("No connection to the App Store. Check your network.", "无法连接 App Store，请检查网络设置。")
        case .other(let words): ClientFailure.other(words).text(language)
        }
    }

    private static func text(_ error: PaydeskError, _ language: ClientLanguage) -> String {
        switch error {
        case .refused(let refusal) where !refusal.message.isEmpty: refusal.message
        case .refused(let refusal): ClientFailure.other("\(refusal.status)").text(language)
        case .noAnswer, .foreignAnswer:
            language.choose("No answer from the server. Try again later.", "服务器没有回应，请稍后再试。")
        case .loggedOut: language.choose("Log in first.", "请先登录。")
        }
    }
}

/// Words and dates of the screens.
enum ScreenText {
    static func restored(_ count: Int, _ language: ClientLanguage) -> String {
        if count == 0 { return language.choose("There is nothing to restore.", "没有可恢复的购买。") }
        return language.choose(
            count == 1 ? "1 purchase restored." : "\(count) purchases restored.", "已恢复 \(count) 项购买。")
    }

    static func membership(_ membership: CurrentMembership, _ language: ClientLanguage) -> String {
        guard let end = membership.expiresAt, !membership.isPerpetual else {
            return language.choose("\(membership.tier), without an end", "\(membership.tier)，永久有效")
        }
        let day = date(end, language)
        if membership.willRenew {
            return language.choose("\(membership.tier), renews on \(day)", "\(membership.tier)，将于 \(day) 自动续订")
        }
        return language.choose("\(membership.tier), until \(day)", "\(membership.tier)，有效期至 \(day)")
    }

    static func limitReached(
        _ usage: MeterUsage, _ unit: LimitUnit, _ language: ClientLanguage
    ) -> String {
        let limit = usage.limit ?? usage.used
        return language.choose(
            "You have used all \(limit) free \(unit.english). A membership lifts the limit; "
                + "without one it starts again at \(moment(usage.resetsAt, language)).",
            "已用完 \(limit) \(unit.chinese)的免费额度。成为会员即可无限使用，也可以等到 \(moment(usage.resetsAt, language)) 重新计算。")
    }

    static func date(_ seconds: Int64, _ language: ClientLanguage) -> String {
        formatted(seconds, language, "d MMM yyyy", "yyyy年M月d日")
    }

    private static func moment(_ seconds: Int64, _ language: ClientLanguage) -> String {
        formatted(seconds, language, "HH:mm 'on' d MMM", "M月d日 HH:mm")
    }

    private static func formatted(
        _ seconds: Int64, _ language: ClientLanguage, _ english: String, _ chinese: String
    ) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: language == .english ? "en_GB" : "zh_CN")
        formatter.dateFormat = language.choose(english, chinese)
        return formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
    }
}
