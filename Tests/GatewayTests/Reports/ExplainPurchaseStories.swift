import Store
import TestSupport

@testable import Domain
@testable import Gateway

extension ExplainTests {
    static let bought = [
        Story(
            testDescription: "a subscription, renewed and over", sku: "apple_auto",
            happen: { apple in
                try await apple.attach(apple.period("sub", from: 0))
                try await apple.attach(apple.period("sub", from: 30) { $0.isRenewal = true })
                apple.desk.clock.advance(days: 61)
            }, types: ["purchase.made", "grant.given", "purchase.renewed", "grant.ended"],
            english: [
                "On {0}, “Renewed by Apple” (com.example.apple.auto) was bought in the App Store until {30}.",
                "“Renewed by Apple” is given from {0} until {60}.",
                "On {30}, “Renewed by Apple” (com.example.apple.auto) was renewed in the App Store until {60}.",
                "On {60}, “Renewed by Apple” ended.",
                "As of {61}: “Renewed by Apple” is not owned any more; it ended on {60}.",
            ],
            chinese: [
                "{0}，在 App Store 购买“Renewed by Apple”（com.example.apple.auto），有效至 {30}。",
                "“Renewed by Apple”自 {0} 起生效，至 {60}。",
                "{30}，“Renewed by Apple”（com.example.apple.auto）在 App Store 续订，有效至 {60}。",
                "{60}，“Renewed by Apple”到期。", "截至 {61}：“Renewed by Apple”已于 {60} 到期。",
            ]),
        Story(
            testDescription: "a purchase that Apple refunded", sku: "life",
            happen: { apple in
                let sale = apple.sale("com.example.life", AppleSale.nonConsumable)
                try await apple.attach(sale)
                apple.desk.clock.advance(days: 1)
                _ = try await apple.refusal(sale.signedAgain(after: 86_400) { $0.revoked = $0.signed })
            }, types: ["purchase.made", "grant.given", "order.revoked", "grant.revoked"],
            english: [
                "On {0}, “For life” (com.example.life) was bought in the App Store.",
                "“For life” is given from {0} for ever.", "On {1}, Apple took back the purchase of “For life”.",
                "On {1}, “For life” was taken back, as it was refunded.",
                "As of {1}: “For life” is not owned; it was taken back on {1}.",
            ],
            chinese: [
                "{0}，在 App Store 购买“For life”（com.example.life）。", "“For life”自 {0} 起永久有效。",
                "{1}，Apple 撤销了“For life”的购买。", "{1}，因退款收回“For life”。", "截至 {1}：未拥有“For life”；已于 {1} 收回。",
            ]),
        Story(
            testDescription: "a purchase that Apple refunded in part, and reinstated", sku: "life",
            happen: { apple in
                let sale = apple.sale("com.example.life", AppleSale.nonConsumable)
                try await apple.attach(sale)
                apple.desk.clock.advance(days: 1)
                _ = try await apple.refusal(
                    sale.signedAgain(after: 86_400) {
                        $0.revoked = $0.signed
                        $0.percentage = 50_000
                    })
                apple.desk.clock.advance(days: 1)
                try await apple.attach(sale.signedAgain(after: 172_800))
            }, active: true, types: ["purchase.made", "grant.given", "order.revoked", "order.reinstated"],
            english: [
                "On {0}, “For life” (com.example.life) was bought in the App Store.",
                "“For life” is given from {0} for ever.", "On {1}, Apple refunded 50 % of “For life”.",
                "On {2}, Apple reinstated the purchase of “For life”.", "As of {2}: “For life” is owned for ever.",
            ],
            chinese: [
                "{0}，在 App Store 购买“For life”（com.example.life）。", "“For life”自 {0} 起永久有效。",
                "{1}，Apple 退还了“For life”的 50%。", "{2}，Apple 恢复了“For life”的购买。", "截至 {2}：“For life”永久有效。",
            ]),
        Story(
            testDescription: "a subscription of which Apple refunded a half before it was claimed",
            happen: { apple in
                let sale = apple.period("half", from: 0)
                _ = try await apple.refusal(
                    sale.with {
                        $0.signed = $0.purchased
                        $0.revoked = $0.signed
                        $0.percentage = 50_000
                    })
            }, active: true, types: ["purchase.made", "order.revoked", "grant.given"],
            english: [
                "On {0}, “Renewed by Apple” (com.example.apple.auto) was bought in the App Store until {30}.",
                "On {0}, Apple refunded 50 % of “Renewed by Apple”.",
                "“Renewed by Apple” is given from {0} until {30}.",
                "As of {0}: The membership VIP is held until {30}.",
            ],
            chinese: [
                "{0}，在 App Store 购买“Renewed by Apple”（com.example.apple.auto），有效至 {30}。",
                "{0}，Apple 退还了“Renewed by Apple”的 50%。", "“Renewed by Apple”自 {0} 起生效，至 {30}。",
                "截至 {0}：会员等级 VIP 有效至 {30}。",
            ]),
        Story(
            testDescription: "a test purchase, bounded", setup: AppStoreGatewayFixtureSetup { $0.maxHours = 48 },
            happen: { apple in try await apple.attach(apple.sale { $0.environment = "Sandbox" }) }, active: true,
            types: ["purchase.made", "grant.given", "grant.bounded"],
            english: [
                "On {0}, “VIP monthly” (com.example.vip.month) was bought in the App Store. "
                    + "It is a test purchase (Sandbox).", "“VIP monthly” is given from {0} until {2}.",
                "A test purchase counts for a limited time only, so “VIP monthly” ends on {2}.",
                "As of {0}: The membership VIP is held until {2}.",
            ],
            chinese: [
                "{0}，在 App Store 购买“月度会员”（com.example.vip.month）。这是一次测试购买（Sandbox）。",
                "“月度会员”自 {0} 起生效，至 {2}。", "测试购买仅在有限时间内有效，因此“月度会员”于 {2} 结束。",
                "截至 {0}：会员等级 VIP 有效至 {2}。",
            ]),
        Story(
            testDescription: "a test purchase that is worth nothing",
            setup: AppStoreGatewayFixtureSetup { $0.entitles = "none" },
            happen: { apple in try await apple.attach(apple.sale { $0.environment = "Sandbox" }) },
            types: ["purchase.made", "grant.bounded"],
            english: [
                "On {0}, “VIP monthly” (com.example.vip.month) was bought in the App Store. "
                    + "It is a test purchase (Sandbox).",
                "Test purchases give this account nothing, so “VIP monthly” does not count.",
                "As of {0}: Nothing is owned.",
            ],
            chinese: [
                "{0}，在 App Store 购买“月度会员”（com.example.vip.month）。这是一次测试购买（Sandbox）。",
                "测试购买对本账户无效，“月度会员”不计入。", "截至 {0}：没有任何权益。",
            ]),
        Story(
            testDescription: "an unknown product",
            happen: { apple in _ = try await apple.refusal(apple.sale("com.example.unknown")) },
            types: ["purchase.unmapped"],
            english: [
                "On {0}, com.example.unknown was bought in the App Store, which the shop does not know yet; "
                    + "the purchase is kept.", "As of {0}: Nothing is owned.",
            ],
            chinese: [
                "{0}，在 App Store 购买了 com.example.unknown，商店尚未配置该商品；购买记录已保留。", "截至 {0}：没有任何权益。",
            ]),
        Story(
            testDescription: "a purchase that went to another account", sku: "apple_auto",
            happen: { apple in
                let token = try await apple.token("bob")
                try await apple.attach(apple.period("moving", from: 0))
                apple.desk.clock.advance(days: 1)
                _ = try await apple.refusal(apple.period("moving", from: 29) { $0.token = token })
            }, types: ["purchase.made", "purchase.transferred"],
            english: [
                "On {0}, “Renewed by Apple” (com.example.apple.auto) was bought in the App Store until {30}.",
                "On {1}, the purchase of “Renewed by Apple” went from this account to another one, with what it gives.",
                "As of {1}: “Renewed by Apple” is not owned.",
            ],
            chinese: [
                "{0}，在 App Store 购买“Renewed by Apple”（com.example.apple.auto），有效至 {30}。",
                "{1}，“Renewed by Apple”的购买及其权益已转到另一账户。", "截至 {1}：未拥有“Renewed by Apple”。",
            ]),
        Story(
            testDescription: "an order that a store's purchase paid", sku: "vip_month",
            happen: { apple in
                _ = try await apple.ask()
                apple.desk.clock.advance(seconds: 1)
                try await apple.attach(apple.sale())
            }, active: true, types: ["order.opened", "purchase.made", "order.paid", "grant.given"],
            english: [
                "On {0}, “VIP monthly” was ordered for 39.90 CNY.",
                "On {0}, “VIP monthly” (com.example.vip.month) was bought in the App Store.",
                "On {0}, the order was paid by an App Store purchase.", "“VIP monthly” is given from {0} until {30}.",
                "As of {0}: “VIP monthly” is owned until {30}.",
            ],
            chinese: [
                "{0}，订购“月度会员”，金额 39.90 CNY。", "{0}，在 App Store 购买“月度会员”（com.example.vip.month）。",
                "{0}，订单由 App Store 购买完成支付。", "“月度会员”自 {0} 起生效，至 {30}。", "截至 {0}：“月度会员”有效至 {30}。",
            ]),
    ]
}
