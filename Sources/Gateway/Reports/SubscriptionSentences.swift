import Domain

/// The sentences of an explanation about subscriptions that Paydesk renews itself.
struct SubscriptionSentences {
    let language: ExplanationLanguage

    /// Writes one entry of a subscription's history.
    func sentence(_ cause: ManagedSubscription.ChangeCause, _ item: String, _ id: String, _ date: String) -> String {
        let (english, chinese) = words(cause)
        return language.pick(
            "On \(date), the subscription \(id) of \(item) \(english).", "\(date)，\(item) 的订阅 \(id) \(chinese)。")
    }

    private func words(_ cause: ManagedSubscription.ChangeCause) -> (english: String, chinese: String) {
        switch cause {
        case .started: ("began", "开始")
        case .renewed: ("was renewed", "已续费")
        case .paymentFailed: ("could not be charged", "扣款失败")
        case .recovered: ("was renewed after a refusal", "在扣款失败后续费成功")
        case .cancelRequested: ("was cancelled and runs to the end of its period", "已取消，可用到本周期结束")
        case .resumed: ("goes on after all", "恢复续费")
        case .changeRequested: ("is to change its plan at the next renewal", "将在下次续费时更换方案")
        case .changeDropped: ("keeps its plan after all", "不再更换方案")
        case .changed: ("was renewed with another plan", "以新方案续费")
        case .paymentMethod: ("got another payment method", "更换了支付方式")
        case .priceChange: ("got another price", "价格已变更")
        case .suspended: ("was suspended by a dispute", "因支付争议暂停")
        case .reinstated: ("was reinstated", "已恢复")
        case .extended: ("was extended by support", "由客服延长")
        case .imported: ("was taken over from elsewhere", "从其他系统迁入")
        case .overlap: ("ends with its period, because one of a store runs", "因商店订阅已生效，将在本周期后结束")
        case .expired: ("ended", "已结束")
        case .revoked: ("was taken back", "被收回")
        }
    }
}
