import ProviderKit

/// The texts of the pay page in English or Chinese.
struct SandboxWords {
    private let isChinese: Bool

    /// Takes the first of the visitor's languages that the page has, else English.
    init(_ visitor: PageVisitor) {
        let known = visitor.languages.lazy.compactMap { $0.lowercased().split(separator: "-").first }
            .first { $0 == "zh" || $0 == "en" }
        isChinese = known == "zh"
    }

    private func pick(_ english: String, _ chinese: String) -> String { isChinese ? chinese : english }

    var language: String { pick("en", "zh-Hans") }
    /// The language that the page's button changes to.
    var other: (language: String, name: String) { isChinese ? ("en", "English") : ("zh-Hans", "中文") }

    var sandbox: String { pick("Sandbox", "沙盒") }
    var test: String { pick("Test", "测试") }
    var testText: String { pick("no real money moves", "不会产生真实扣款") }
    var question: String { pick("What should the payer do?", "付款人会怎么做？") }

    func pay(_ amount: String) -> String { pick("Pay \(amount)", "支付 \(amount)") }
    var payHelp: String { pick("It succeeds, the order is paid", "付款成功，订单完成") }
    var decline: String { pick("Decline", "拒绝付款") }
    var declineHelp: String { pick("Refused, the payer can try again", "付款被拒绝，付款人可以重试") }
    var leave: String { pick("Leave it pending", "保持处理中") }
    var leaveHelp: String { pick("The outcome comes later", "结果稍后才有") }

    var agree: String { pick("I agree to these terms", "我同意以上条款") }
    var later: String { pick("Play the renewals", "模拟后续续费") }
    var laterCharges: String { pick("Later charges", "后续扣款") }
    var instrument: String { pick("Means of payment, a text of your own", "支付工具，任意文字") }

    func renewals(_ played: SandboxAgreement.Renewals) -> String {
        switch played {
        case .succeed: pick("succeed", "成功")
        case .soft: pick("are refused, a later try may succeed", "被拒绝，稍后可能成功")
        case .hard: pick("are refused for good", "被永久拒绝")
        case .actionRequired: pick("need the payer to confirm", "需要付款人确认")
        case .pending: pick("stay pending", "保持处理中")
        case .lost: pick("succeed, and the reply is lost", "成功，但回复丢失")
        case .neverArrived: pick("never arrive", "请求从未到达")
        }
    }

    var payment: String { pick("Payment", "付款") }
    var order: String { pick("Order", "订单") }
    var state: String { pick("State", "状态") }
    var note: String {
        pick(
            "This page stands in for a payment service. It signs and sends the same notifications as a real one.",
            "本页代替真实的支付服务，会签名并发送同样的通知。")
    }
    var back: String { pick("Back to the app", "返回应用") }

    var waits: String { pick("This payment waits for you.", "等待付款。") }
    var paid: String { pick("Paid.", "已付款。") }
    var refunded: String { pick("Paid, and refunded in part or whole.", "已付款，并已部分或全部退款。") }
    var failed: String { pick("The payment failed.", "付款失败。") }
    var expired: String {
        pick("This payment has expired and cannot be paid any more.", "付款已过期，不能再付。")
    }
    var cancelled: String {
        pick("This payment was cancelled and cannot be paid any more.", "付款已取消，不能再付。")
    }
}
