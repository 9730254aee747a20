import Domain
import Foundation
import PaydeskServer
import Testing

@testable import Gateway

@Suite("StoreKit configuration files")
struct StoreKitFileTests {
    typealias Samples = StoreKitSamples

    private static func parse(_ text: String, currency: String? = nil) throws -> StoreKitFile.Contents {
        try StoreKitFile.parse(
            Data(text.utf8), file: "P.storekit", currency: currency.flatMap(Currency.init),
            fallback: try #require(Currency("CNY")))
    }

    /// Plans the import of a file, without a database.
    private static func plan(
        _ contents: StoreKitFile.Contents, onto skus: [SKU], bundle: String? = nil,
        tiers: [String: StoreKitImport.Tier] = [:], days: [String: Int64] = [:], units: [String: [String: Int64]] = [:]
    ) -> StoreKitPlan {
        StoreKitPlan(
            StoreKitImport(products: contents.products, bundle: bundle, tiers: tiers, days: days, units: units),
            onto: skus)
    }

    @Test func `a file that Xcode saved is read with exact prices`() throws {
        let contents = try Self.parse(Samples.whole)
        #expect(contents.currency.code == "USD" && contents.reason.contains("storefront USA"))
        #expect(
            contents.products.map {
                "\($0.path) \($0.productID) \($0.kind.rawValue) \($0.price) \($0.period?.text ?? "-")"
            }
                == [
                    "products[0] harbour.coins.100 consumable 0.99 USD -",
                    "products[1] Harbour.Boat non_consumable 49.90 USD -",
                    "nonRenewingSubscriptions[0] harbour.season non_renewing 12.00 USD -",
                    "subscriptionGroups[0].subscriptions[0] harbour.club.monthly subscription 4.99 USD P1M",
                    "subscriptionGroups[0].subscriptions[1] harbour.club.yearly subscription 39.00 USD P1Y",
                ])
        #expect(contents.products[0].texts.map(\.tag) == ["en-US", "de", "en-GB"])
        #expect(contents.products[0].texts[1].name == "Hundert Münzen 🪙")
        #expect(contents.products[1].texts.isEmpty && contents.products[1].referenceName == "The boat")
    }

    @Test func `prices are in the storefront's currency, or the configured one, or what the admin says`() throws {
        let short = try Self.parse(Samples.short)
        #expect(short.products.map(\.price.description) == ["0.99 CNY"] && short.reason.contains("default_currency"))
        #expect(try Self.parse(Samples.whole, currency: "EUR").products[1].price.description == "49.90 EUR")
        let japan =
            "{\"settings\": {\"_storefront\": \"JPN\"}, \"products\": [\(Samples.ring(["displayPrice": "\"600\""]))]}"
        #expect(try Self.parse(japan).products.map(\.price.value) == [600])
    }

    @Test(
        arguments: [
            FaultCase("no file of Xcode's", "{\"skus\": []}", "", "no StoreKit configuration file"),
            FaultCase("a list", "[]", "", "no StoreKit configuration file"), FaultCase("nothing", "", "", "JSON"),
            FaultCase("a comment", "{\"products\": [] // more\n}", "", "without comments"),
            FaultCase("half a file", String(Samples.whole.prefix(900)), "", "not valid JSON"),
            FaultCase("nesting", String(repeating: "[", count: 100_000), "", "nested too deeply"),
            FaultCase("size", String(repeating: " ", count: 1 << 20) + "{\"products\":[]}", "", "larger than 1 MiB"),
            FaultCase("no list", "{\"products\": {}}", "products", "is not a list"),
            FaultCase("no object", "{\"products\": [1]}", "products[0]", "is not an object"),
            FaultCase(
                "no id", Samples.products(Samples.ring(["productID": nil])), "products[0].productID", "is missing"),
            FaultCase(
                "a number as id", Samples.products(Samples.ring(["productID": "7"])), "products[0].productID", "text"),
            FaultCase("an empty id", Samples.products(Samples.ring(["productID": "\"\""])), "products[0].productID"),
            FaultCase(
                "a pattern", Samples.products(Samples.ring(["productID": "\"day${days}\""])), "products[0].productID"),
            FaultCase("a bundle", Samples.products(Samples.ring(["productID": "\"a:b\""])), "products[0].productID"),
            FaultCase(
                "one product twice", Samples.products(Samples.ring(), Samples.ring()), "products[1].productID",
                "as products[0].productID"),
            FaultCase("no type", Samples.products(Samples.ring(["type": nil])), "products[0].type", "is missing"),
            FaultCase(
                "an unknown type", Samples.products(Samples.ring(["type": "\"Gift\""])), "products[0].type",
                "NonRenewingSubscription"),
            FaultCase(
                "a subscription among products", Samples.products(Samples.ring(["type": "\"RecurringSubscription\""])),
                "products[0].type", "does not belong"),
            FaultCase(
                "no price", Samples.products(Samples.ring(["displayPrice": nil])), "products[0].displayPrice", "missing"
            ),
            FaultCase(
                "a number as price", Samples.products(Samples.ring(["displayPrice": "1.99"])),
                "products[0].displayPrice", "text"),
            FaultCase(
                "a comma", Samples.products(Samples.ring(["displayPrice": "\"1,99\""])), "products[0].displayPrice",
                "4.99"),
            FaultCase(
                "a fraction of a fen", Samples.products(Samples.ring(["displayPrice": "\"1.999\""])),
                "products[0].displayPrice"),
            FaultCase("a debt", Samples.products(Samples.ring(["displayPrice": "\"-1\""])), "products[0].displayPrice"),
            FaultCase("a sign", Samples.products(Samples.ring(["displayPrice": "\"¥1\""])), "products[0].displayPrice"),
            FaultCase(
                "an exponent", Samples.products(Samples.ring(["displayPrice": "\"1e3\""])), "products[0].displayPrice"),
            FaultCase(
                "a fortune", Samples.products(Samples.ring(["displayPrice": "\"99999999999999999999\""])),
                "products[0].displayPrice"),
            FaultCase(
                "no period", Samples.group(Samples.ring(["type": nil])),
                "subscriptionGroups[0].subscriptions[0].recurringSubscriptionPeriod", "is missing"),
            FaultCase(
                "an odd period",
                Samples.group(Samples.ring(["type": nil, "recurringSubscriptionPeriod": "\"monthly\""])),
                "subscriptionGroups[0].subscriptions[0].recurringSubscriptionPeriod", "P1M"),
            FaultCase(
                "a device in a group", Samples.group(Samples.ring()), "subscriptionGroups[0].subscriptions[0].type",
                "does not belong"),
            FaultCase(
                "no localizations", Samples.products(Samples.ring(["localizations": "{}"])),
                "products[0].localizations", "list"),
            FaultCase(
                "no locale", Samples.products(Samples.ring(["localizations": "[{\"displayName\": \"R\"}]"])),
                "products[0].localizations[0].locale", "is missing"),
            FaultCase(
                "an odd locale",
                Samples.products(Samples.ring(["localizations": "[{\"displayName\": \"R\", \"locale\": \"../x\"}]"])),
                "products[0].localizations[0].locale"),
            FaultCase(
                "U+0000 in a name", Samples.products(Samples.ring(["referenceName": "\"a\\u0000b\""])),
                "products[0].referenceName", "U+0000"),
            FaultCase(
                "an unknown storefront", "{\"products\": [], \"settings\": {\"_storefront\": \"ATL\"}}",
                "settings._storefront", "--currency EUR"),
            FaultCase("settings that are none", "{\"products\": [], \"settings\": 1}", "settings", "is not an object"),
        ])
    func `each fault of a file names the value's path`(_ fault: FaultCase) throws {
        let error = #expect(throws: ConfigurationError.self) { try Self.parse(fault.text) }
        #expect(error?.faults.count == 1, "\(String(describing: error))")
        let line = try #require(error?.faults.first?.description)
        #expect(line.hasPrefix(fault.key.isEmpty ? "P.storekit: " : "P.storekit: \(fault.key): "), "\(line)")
        #expect(fault.says.isEmpty || line.contains(fault.says), "\(line)")
    }

    @Test(arguments: [String.Encoding.utf16, .utf16LittleEndian, .utf32, .isoLatin1])
    func `only UTF-8 is read`(_ encoding: String.Encoding) throws {
        let text = "{\"products\": [], \"identifier\": \"é\"}"
        let data = try #require(text.data(using: encoding))
        let cny = try #require(Currency("CNY"))
        #expect(throws: ConfigurationError.self) {
            try StoreKitFile.parse(data, file: "P.storekit", currency: nil, fallback: cny)
        }
        #expect(try Self.parse(text).products.isEmpty)
    }

    @Test func `all faults are named, up to a hundred`() throws {
        let two = Samples.products(Samples.ring(["displayPrice": "1", "type": "\"Gift\""]), "7")
        #expect(#expect(throws: ConfigurationError.self) { try Self.parse(two) }?.faults.count == 3)
        let many = "{\"products\": [\(Array(repeating: "1", count: 200_000).joined(separator: ","))]}"
        #expect(#expect(throws: ConfigurationError.self) { try Self.parse(many) }?.faults.count == 100)
    }

    @Test func `a file that was imported is exported with its ids, types, periods and prices`() throws {
        let contents = try Self.parse(Samples.whole)
        let plan = Self.plan(
            contents, onto: [],
            tiers: [
                "harbour.season": .init(name: "", rank: 0), "harbour.club.monthly": .init(name: "Club", rank: 10),
                "harbour.club.yearly": .init(name: "Club", rank: 10),
            ], days: ["harbour.season": 120], units: ["harbour.coins.100": ["coins": 100]])
        #expect(plan.outcome.faults.isEmpty && plan.outcome.added.count == 5, "\(plan.outcome)")
        let usa = try #require(Storefront("USA"))
        let rendering = try StoreKitFile.render(plan.skus, storefront: usa, bundle: nil)
        #expect(rendering.notes.isEmpty)
        let again = try Self.parse(rendering.text)
        func told(_ contents: StoreKitFile.Contents) -> [String] {
            contents.products.map { product in
                let name = product.texts.first?.name ?? product.referenceName
                return "\(product.productID) \(product.kind.rawValue) \(name) \(product.texts.map(\.tag).dropFirst())"
            }
        }
        #expect(told(again) == told(contents))
        #expect(again.products.map(\.price) == contents.products.map(\.price))
        #expect(again.products.map(\.period) == contents.products.map(\.period))
        let back = Self.plan(again, onto: plan.skus)
        #expect(back.skus.isEmpty && back.outcome == StoreKitOutcome(), "\(back.outcome)")
        #expect(try StoreKitFile.render(plan.skus, storefront: usa, bundle: nil).text == rendering.text)
    }

    @Test(arguments: ["CHN", "USA"])
    func `what is exported of the shipped catalogue changes nothing when it comes back`(_ code: String) throws {
        let shipped = try ShippedConfiguration.load().catalogue
        let storefront = try #require(Storefront(code))
        let rendering = try StoreKitFile.render(shipped, storefront: storefront, bundle: nil)
        let contents = try Self.parse(rendering.text)
        #expect(contents.products.count == (code == "CHN" ? 4 : 3))
        #expect(rendering.notes.contains { $0.hasPrefix("basic_days: merchant.hifastvpn.day${days} is a pattern") })
        #expect(rendering.notes.contains { $0.contains("has no price in \(storefront.currency)") })
        let plan = Self.plan(contents, onto: shipped)
        #expect(plan.skus.isEmpty && plan.outcome.faults.isEmpty && plan.outcome.changed.isEmpty)
    }

    private static func skus(_ yaml: String) throws -> [SKU] { try CatalogFile.parse("skus:\n" + yaml, file: "c.yaml") }

    @Test func `odd SKUs come back as they were, and what does not fit is said`() throws {
        let usd = "prices: [{currency: USD, value: 0}, {currency: CNY, value: 5}]"
        let skus = try Self.skus(
            """
              - {id: a, name: "N \\"1\\" / \\\\ 年", kind: non_consumable, \(usd), apple_product_ids: [a, "one.app:b"],
                 localizations: {en: {name: E, description: ""}, en-AU: {name: A}, zh: {name: Z, description: D}, x y: {name: X}}}
              - {id: gold, name: G, kind: subscription, tier: VIP, rank: 20, duration_days: 31, \(usd), apple_product_ids: [g]}
              - {id: tin, name: T, kind: subscription, tier: VIP, rank: 10, duration_days: 365, \(usd), apple_product_ids: [t]}
              - {id: free, name: F, kind: subscription, duration_days: 7, attributes: {size: 1}, \(usd), apple_product_ids: [f]}
              - {id: odd, name: O, kind: subscription, tier: VIP, duration_days: 50, \(usd), apple_product_ids: [o]}
              - {id: gone, name: O, kind: non_consumable, \(usd), apple_product_ids: [p], active: false}
              - {id: web, name: O, kind: non_consumable, \(usd)}
            """)
        let usa = try #require(Storefront("USA"))
        let rendering = try StoreKitFile.render(skus, storefront: usa, bundle: nil)
        #expect(
            rendering.notes == [
                "a: a localization is not named by a language tag such as en or zh-Hans, and is left out",
                "a: a localization is not named by a language tag such as en or zh-Hans, and is left out",
                "odd: o needs a period that the App Store sells (P1W, P1M, P2M, P3M, P6M, P1Y) and is left out",
                "gone: is archived and left out",
            ])
        let root = try #require(JSONSerialization.jsonObject(with: Data(rendering.text.utf8)) as? [String: Any])
        let groups = try #require(root["subscriptionGroups"] as? [[String: Any]])
        #expect(groups.map { $0["name"] as? String } == ["VIP", "Subscriptions"])
        let levels = (groups[0]["subscriptions"] as? [[String: Any]])?.map { $0["groupNumber"] as? Int }
        #expect(levels == [1, 2])
        let ids = rendering.text.matches(of: /"(?:internalID|id|identifier)" : "([^"]*)"/).map { String($0.1) }
        #expect(ids.count == 8 && Set(ids).count == 8 && ids.allSatisfy { $0.wholeMatch(of: /[0-9A-F]{8}/) != nil })
        #expect(rendering.text.contains("\"introductoryOffer\" : null"))
        let plan = Self.plan(try Self.parse(rendering.text), onto: skus)
        #expect(plan.skus.isEmpty && plan.outcome.faults.isEmpty && plan.outcome.changed.isEmpty, "\(plan.outcome)")
    }

    @Test func `products of several apps are exported one app at a time`() throws {
        let price = "prices: [{currency: USD, value: 99}]"
        let skus = try Self.skus(
            """
              - {id: a, name: A, kind: non_consumable, \(price), apple_product_ids: ["one.app:x", both]}
              - {id: b, name: B, kind: non_consumable, \(price), apple_product_ids: ["two.app:x"]}
            """)
        #expect(StoreKitFile.bundles(of: skus) == ["one.app", "two.app"])
        let usa = try #require(Storefront("USA"))
        for (bundle, products) in [("one.app", ["x", "both"]), ("two.app", ["both", "x"]), ("new.app", ["both"])] {
            let rendering = try StoreKitFile.render(skus, storefront: usa, bundle: bundle)
            let contents = try Self.parse(rendering.text)
            #expect(contents.products.map(\.productID) == products)
            let plan = Self.plan(contents, onto: skus, bundle: bundle)
            #expect(plan.skus.isEmpty && plan.outcome == StoreKitOutcome())
        }
    }

    /// Each file with cut, changed or doubled bytes is read or refused with faults, and what is read can be planned.
    @Test func `no damaged file does harm`() throws {
        let whole = Data(Samples.whole.utf8)
        let shipped = try ShippedConfiguration.load().catalogue
        let cny = try #require(Currency("CNY"))
        var (state, read, refused) = (UInt64(42), 0, 0)
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let words = [
            "null", "\"\"", "{}", "[]", "-1", "1e999", "true", "\"\\ud800\"", "99999999999999999999", "\"P0M\"",
        ]
        for round in 0..<2_000 {
            var data = whole
            switch round % 4 {
            case 0: data = data.prefix(random(whole.count))
            case 1: for _ in 0...random(4) { data[random(data.count)] = UInt8(random(256)) }
            case 2:
                let from = random(data.count)
                data.insert(contentsOf: whole[from..<min(whole.count, from + random(400))], at: random(data.count))
            default:
                var lines = Samples.whole.split(separator: "\n").map(String.init)
                let line = random(lines.count)
                let comma = lines[line].hasSuffix(",") ? "," : ""
                if let colon = lines[line].range(of: " : ") {
                    lines[line] = lines[line][..<colon.upperBound] + words[random(words.count)] + comma
                } else {
                    lines.remove(at: line)
                }
                data = Data(lines.joined(separator: "\n").utf8)
            }
            do throws(ConfigurationError) {
                let contents = try StoreKitFile.parse(data, file: "P.storekit", currency: nil, fallback: cny)
                _ = Self.plan(contents, onto: shipped)
                read += 1
            } catch {
                #expect(!error.faults.isEmpty)
                refused += 1
            }
        }
        #expect(read > 100 && refused > 500, "\(read) read, \(refused) refused")
    }
}
