import Domain
import Testing

struct StoreKitProductTests {
    @Test(
        arguments: [
            ("P1D", 1), ("P3D", 3), ("P1W", 7), ("P2W", 14), ("P1M", 30), ("P2M", 60), ("P3M", 90), ("P6M", 180),
            ("P1Y", 365), ("P10Y", 3_650), ("P3660D", 3_660),
        ] as [(String, Int64)])
    func `a period counts its days and writes itself`(_ text: String, _ days: Int64) throws {
        let period = try #require(StoreKitPeriod(text))
        #expect(period.days == days && period.text == text && period.covers(days))
    }

    @Test(
        arguments: [
            "", "P", "1M", "PM", "P1", "P0M", "P01M", "p1m", "P1m", "P-1M", "P1.5M", "PT1M", "P1M1D", "P 1M", "P1M ",
            "P١M", "P11Y", "P3661D", "P99999D", "P99999999999999999999Y",
        ])
    func `what is no period is refused`(_ text: String) {
        #expect(StoreKitPeriod(text) == nil)
    }

    @Test(
        arguments: [
            (7, "P1W"), (28, "P1M"), (30, "P1M"), (31, "P1M"), (60, "P2M"), (90, "P3M"), (92, "P3M"), (180, "P6M"),
            (184, "P6M"), (365, "P1Y"), (366, "P1Y"), (1, nil), (14, nil), (32, nil), (100, nil), (730, nil),
        ] as [(Int64, String?)])
    func `a number of days is a period that the App Store sells, or none`(_ days: Int64, _ period: String?) {
        #expect(StoreKitPeriod(days: days)?.text == period)
    }

    @Test func `every storefront of the table is read, once`() {
        #expect(Storefront.common.count == 53)
        #expect(Set(Storefront.common.map(\.code)).count == Storefront.common.count)
        #expect(Storefront("CHN")?.currency == Currency("CNY") && Storefront("usa") == nil && Storefront("") == nil)
        for storefront in Storefront.common {
            #expect(Storefront(selling: storefront.currency)?.currency == storefront.currency)
        }
    }

    private static let tags = ["en", "en-US", "en-GB", "zh-CN", "zh-Hans", "fr", "fr-CA"]

    /// Merges every sequence of up to three languages into SKUs that have some of them.
    @Test func `names that were taken over once change nothing the second time`() throws {
        let price = Money(value: 99, currency: try #require(Currency("USD")))
        let code = try #require(SKUCode("a"))
        func product(_ tags: [String], _ word: String) -> StoreKitProduct {
            StoreKitProduct(
                path: "products[0]", productID: "a", kind: .nonConsumable, referenceName: "A", price: price,
                period: nil,
                texts: tags.map { .init(tag: $0, name: "\(word) \($0)", description: $0 == "fr" ? "" : "about \($0)") })
        }
        var orders: [[String]] = [[]]
        for tag in Self.tags {
            orders.append([tag])
            for other in Self.tags where other != tag {
                orders.append([tag, other])
                for third in Self.tags where third != tag && third != other { orders.append([tag, other, third]) }
            }
        }
        for before in orders where before.count < 3 {
            for now in orders {
                var sku = SKU(product(before, "old"), code: code, entry: "a", tier: "", rank: 0, days: nil, units: [:])
                sku.say(product(now, "new").texts)
                let once = sku
                sku.say(product(now, "new").texts)
                #expect(sku == once, "\(before) then \(now)")
                for tag in now {
                    #expect(once.localized(for: [tag]).name == "new \(tag)", "\(before) then \(now), \(tag)")
                }
            }
        }
    }
}
