import ProviderKit
import Store
import TestSupport

@testable import Domain
@testable import Gateway

extension ExplainTests {
    private static let ordered = ["order.opened", "payment.succeeded", "order.paid"]
    private static let month = [
        "On {0}, “VIP monthly” was ordered for 39.90 CNY.", "On {0}, a payment of 39.90 CNY arrived.",
        "On {0}, the order was paid.", "“VIP monthly” is given from {0} until {30}.",
    ]
    private static let zhMonth = [
        "{0}，订购“月度会员”，金额 39.90 CNY。", "{0}，收到付款 39.90 CNY。", "{0}，订单已支付。", "“月度会员”自 {0} 起生效，至 {30}。",
    ]

    private static func gift(_ sku: String, days: Int64) -> GrantRequest {
        GrantRequest(sku: sku, durationDays: days, expiresAt: nil, reason: "goodwill: second try")
    }

    static let stories = sold + given + bought

    private static let sold = [
        Story(
            testDescription: "nobody", happen: { _ in }, types: [], english: ["As of {0}: Nothing is owned."],
            chinese: ["截至 {0}：没有任何权益。"]),
        Story(
            testDescription: "nothing of this", sku: "walkie", happen: { try await $0.desk.buyForReal() }, types: [],
            english: ["As of {0}: “Walkie-talkie” is not owned."], chinese: ["截至 {0}：未拥有“Walkie-talkie”。"]),
        Story(
            testDescription: "a pass", happen: { try await $0.desk.buyForReal() }, active: true,
            types: ordered + ["grant.given"],
            english: month + ["As of {0}: The membership VIP is held until {30}."],
            chinese: zhMonth + ["截至 {0}：会员等级 VIP 有效至 {30}。"]),
        Story(
            testDescription: "a pass that is over", sku: "vip_month",
            happen: { apple in
                try await apple.desk.buyForReal()
                apple.desk.clock.advance(days: 31)
            }, types: ordered + ["grant.given", "grant.ended"],
            english: month + [
                "On {30}, “VIP monthly” ended.", "As of {31}: “VIP monthly” is not owned any more; it ended on {30}.",
            ], chinese: zhMonth + ["{30}，“月度会员”到期。", "截至 {31}：“月度会员”已于 {30} 到期。"]),
        Story(
            testDescription: "a pass behind another", sku: "vip_year",
            happen: { apple in
                try await apple.desk.buyForReal()
                apple.desk.clock.advance(days: 10)
                try await apple.desk.buyForReal("vip_year")
            }, types: ordered + ["grant.given", "grant.stacked"],
            english: [
                "On {10}, “VIP yearly” was ordered for 169.00 CNY.", "On {10}, a payment of 169.00 CNY arrived.",
                "On {10}, the order was paid.", "“VIP yearly” is given from {30} until {395}.",
                "Passes follow one another, so “VIP yearly” begins on {30}, when “VIP monthly” before it ends.",
                "As of {10}: “VIP yearly” begins on {30}.",
            ],
            chinese: [
                "{10}，订购“VIP yearly”，金额 169.00 CNY。", "{10}，收到付款 169.00 CNY。", "{10}，订单已支付。",
                "“VIP yearly”自 {30} 起生效，至 {395}。", "会员时长依次顺延，因此“VIP yearly”于 {30} 开始（接在“月度会员”之后）。",
                "截至 {10}：“VIP yearly”将于 {30} 开始。",
            ]),
        Story(
            testDescription: "a refund", sku: "vip_month",
            happen: { apple in
                let order = try await apple.desk.buyForReal().order
                apple.desk.clock.advance(days: 2)
                try await apple.desk.refund(order)
            }, types: ordered + ["grant.given", "refund.created", "refund.succeeded", "grant.revoked"],
            english: month + [
                "On {2}, a refund of 39.90 CNY was started.", "On {2}, a refund of 39.90 CNY was paid out.",
                "On {2}, “VIP monthly” was taken back, as it was refunded.",
                "As of {2}: “VIP monthly” is not owned; it was taken back on {2}.",
            ],
            chinese: zhMonth + [
                "{2}，发起退款 39.90 CNY。", "{2}，退款 39.90 CNY 已完成。", "{2}，因退款收回“月度会员”。",
                "截至 {2}：未拥有“月度会员”；已于 {2} 收回。",
            ]),
        Story(
            testDescription: "a dispute that is open",
            happen: { apple in
                let contract = try await apple.desk.buyForReal()
                apple.desk.clock.advance(days: 1)
                try await apple.desk.dispute(contract, .opened)
            }, types: ordered + ["grant.given", "dispute.opened"],
            english: month + [
                "On {1}, the payer disputed a payment of 39.90 CNY; what it bought is suspended until that is decided.",
                "As of {1}: “VIP monthly” is suspended while a dispute is open.",
            ],
            chinese: zhMonth + [
                "{1}，付款人对付款 39.90 CNY 提出争议；在有结果之前，所购内容暂停使用。", "截至 {1}：“月度会员”因争议处理中而暂停。",
            ]),
        Story(
            testDescription: "a dispute that was lost", sku: "vip_month",
            happen: { apple in
                let contract = try await apple.desk.buyForReal()
                apple.desk.clock.advance(days: 1)
                try await apple.desk.dispute(contract, .opened)
                apple.desk.clock.advance(days: 1)
                try await apple.desk.dispute(contract, .lost)
            }, types: ordered + ["grant.given", "dispute.opened", "dispute.lost", "grant.revoked"],
            english: month + [
                "On {1}, the payer disputed a payment of 39.90 CNY; what it bought is suspended until that is decided.",
                "On {2}, the dispute was decided for the payer, who got the money back.",
                "On {2}, “VIP monthly” was taken back after the dispute.",
                "As of {2}: “VIP monthly” is not owned; it was taken back on {2}.",
            ],
            chinese: zhMonth + [
                "{1}，付款人对付款 39.90 CNY 提出争议；在有结果之前，所购内容暂停使用。", "{2}，争议判定付款人胜诉，款项已退回。",
                "{2}，因争议收回“月度会员”。", "截至 {2}：未拥有“月度会员”；已于 {2} 收回。",
            ]),
        Story(
            testDescription: "an order that was given up",
            happen: { apple in
                let order = try await apple.desk.checkout().order
                apple.desk.clock.advance(days: 1)
                _ = try await apple.desk.gateway.orderClosing.cancel(
                    order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            }, types: ["order.opened", "payment.cancelled", "order.closed"],
            english: [
                "On {0}, “VIP monthly” was ordered for 39.90 CNY.", "On {1}, an attempt to pay was cancelled.",
                "On {1}, the order was closed without a payment.", "As of {1}: Nothing is owned.",
            ],
            chinese: [
                "{0}，订购“月度会员”，金额 39.90 CNY。", "{1}，一次支付被取消。", "{1}，订单未付款，已关闭。", "截至 {1}：没有任何权益。",
            ]),
        Story(
            testDescription: "a free trial", sku: "trial",
            happen: { _ = try await $0.desk.checkout("trial", provider: nil) }, active: true,
            types: ["order.opened", "order.paid", "grant.given"],
            english: [
                "On {0}, “Trial” was ordered for free.", "On {0}, the order was complete, as it costs nothing.",
                "“Trial” is given from {0} until {3}.", "As of {0}: “Trial” is owned until {3}.",
            ],
            chinese: [
                "{0}，免费订购“Trial”。", "{0}，订单无需付款，已完成。", "“Trial”自 {0} 起生效，至 {3}。", "截至 {0}：“Trial”有效至 {3}。",
            ]),
        Story(
            testDescription: "units, and their use",
            happen: { apple in
                try await apple.desk.buyForReal("coins", quantity: 2)
                apple.desk.clock.advance(days: 1)
                _ = try await apple.desk.gateway.wallets.debit(
                    50, of: "coins", from: GatewayFixture.user("alice"), reason: "game", context: .test)
            }, types: ordered + ["balance.credited", "balance.credited", "balance.debited"],
            english: [
                "On {0}, 2 × “100 coins” was ordered for 12.00 CNY.", "On {0}, a payment of 12.00 CNY arrived.",
                "On {0}, the order was paid.", "On {0}, 200 coins were credited.", "On {0}, 2 stars were credited.",
                "On {1}, 50 coins were used.", "As of {1}: The balance of coins is 150. The balance of stars is 2.",
            ],
            chinese: [
                "{0}，订购 2 份“100 coins”，金额 12.00 CNY。", "{0}，收到付款 12.00 CNY。", "{0}，订单已支付。", "{0}，入账 200 coins。",
                "{0}，入账 2 stars。", "{1}，使用 50 coins。", "截至 {1}：coins 余额为 150。stars 余额为 2。",
            ]),
    ]

    private static let given = [
        Story(
            testDescription: "a gift of the support, with its reason", sku: "vip_month",
            happen: { apple in
                _ = try await apple.gateway.grants.create(
                    gift("vip_month", days: 7), to: GatewayFixture.user("alice"), by: .admin, context: .test)
            }, active: true, types: ["grant.given"],
            english: [
                "On {0}, the support gave “VIP monthly” (reason: goodwill: second try). "
                    + "“VIP monthly” is given from {0} until {7}.", "As of {0}: “VIP monthly” is owned until {7}.",
            ],
            chinese: [
                "{0}，客服赠予“月度会员”（原因：goodwill: second try）。“月度会员”自 {0} 起生效，至 {7}。", "截至 {0}：“月度会员”有效至 {7}。",
            ]),
        Story(
            testDescription: "a gift as its user reads of it", reader: .user,
            happen: { apple in
                let gift = try await apple.gateway.grants.create(
                    gift("vip_month", days: 7), to: GatewayFixture.user("alice"), by: .partner, context: .test)
                apple.desk.clock.advance(days: 1)
                _ = try await apple.gateway.grants.revoke(gift.id.rawValue, context: .test)
            }, types: ["grant.given", "grant.revoked"],
            english: [
                "On {0}, a partner gave “VIP monthly”. “VIP monthly” is given from {0} until {7}.",
                "On {1}, the support took “VIP monthly” back.", "As of {1}: Nothing is owned.",
            ],
            chinese: [
                "{0}，合作方赠予“月度会员”。“月度会员”自 {0} 起生效，至 {7}。", "{1}，客服收回“月度会员”。", "截至 {1}：没有任何权益。",
            ]),
    ]
}
