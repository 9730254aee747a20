import Domain
import PaydeskServer
import Testing

struct ConfigurationCatalogTests {
    private static let pass = "id: a, name: A, kind: non_renewing, duration_days: 30"
    private static let price = "prices: [{currency: CNY, value: 1}]"

    @Test(
        arguments: [
            FaultCase("an unknown list", "sku: []", "sku", "did you mean skus?"),
            FaultCase("an unknown field", "skus: [{\(pass), price: 1}]", "skus[0].price", "did you mean prices?"),
            FaultCase(
                "an unknown field of a price", "skus: [{\(pass), prices: [{currency: CNY, amount: 1}]}]",
                "skus[0].prices[0].amount"),
            FaultCase("a missing field", "skus: [{id: a, \(price)}]", "skus[0].name", "is missing"),
            FaultCase("an unknown kind", "skus: [{id: a, name: A, kind: pass, \(price)}]", "skus[0].kind"),
            FaultCase("a wrong type", "skus: [{\(pass), rank: high, \(price)}]", "skus[0].rank", "whole number"),
            FaultCase(
                "a fraction of a cent", "skus: [{\(pass), prices: [{currency: CNY, value: 29.9}]}]",
                "skus[0].prices[0].value"),
            FaultCase(
                "no currency", "skus: [{\(pass), prices: [{currency: RMB, value: 1}]}]", "skus[0].prices[0].currency",
                "ISO 4217"),
            FaultCase("no price", "skus: [{\(pass)}]", "skus[0].prices", "needs prices"),
            FaultCase(
                "a name that is no text", "skus: [{id: a, name: 12, kind: consumable, \(price)}]", "skus[0].name",
                "quotes"),
            FaultCase("one id twice", "skus: [{\(pass), \(price)}, {\(pass), \(price)}]", "skus[1]", "skus[0]"),
            FaultCase(
                "one product twice",
                """
                skus:
                  - {\(pass), \(price), apple_product_ids: ["x.day${days}"]}
                  - {id: b, name: B, kind: non_renewing, \(price), apple_product_ids: ["x.day${quantity}"]}
                """, "skus[1]", "as the SKU a does"),
            FaultCase(
                "an unknown audience",
                "skus: [{id: a, name: A, kind: subscription, tier: A, \(price), apple_product_ids: [x], "
                    + "offers: [{id: o, product_id: x, audience: friends}]}]", "skus[0].offers[0].audience"),
            FaultCase(
                "an offer on a foreign product",
                "skus: [{id: a, name: A, kind: subscription, tier: A, \(price), apple_product_ids: [x], "
                    + "offers: [{id: o, product_id: y}]}]", "skus[0].offers", "one of the SKU's"),
            FaultCase("a member that is no mapping", "skus: [vip]", "skus[0]", "not a mapping"),
            FaultCase("bad syntax", "skus: [", "", "not valid YAML"),
        ])
    func `each fault of a catalogue names the SKU and its field`(_ fault: FaultCase) throws {
        let error = #expect(throws: ConfigurationError.self) { try CatalogFile.parse(fault.text, file: "new.yaml") }
        #expect(error?.faults.count == 1)
        let line = try #require(error?.faults.first?.description)
        #expect(line.hasPrefix("new.yaml"), "\(line)")
        #expect(
            line.contains(fault.key.isEmpty ? "new.yaml" : ": \(fault.key): ") && line.contains(fault.says), "\(line)")
    }

    @Test func `an archived SKU may keep the product that an active one sells now`() throws {
        let skus = try CatalogFile.parse(
            """
            skus:
              - {\(Self.pass), \(Self.price), apple_product_ids: [x.y], active: false}
              - {id: b, name: B, kind: non_renewing, duration_days: 1, \(Self.price), apple_product_ids: [x.y]}
            """, file: "catalog.yaml")
        #expect(skus.map(\.active) == [false, true])
    }

    @Test(arguments: ["", "skus:", "skus: []", "# nothing\n", "---\n"])
    func `an empty catalogue is no fault`(_ text: String) throws {
        #expect(try CatalogFile.parse(text, file: "catalog.yaml") == [])
    }

    @Test func `a catalogue is never filled from the environment`() throws {
        var fixture = ConfigurationFixture.development().with(environment: ["days": "9", "HOME": "x"])
        fixture.catalogue =
            "skus: [{id: a, name: \"${HOME}\", kind: non_renewing, \(Self.price), "
            + "apple_product_ids: [\"x.day${days}\"], duration_days: 7, description: \"$${X} ${lower\"}]"
        let sku = try #require(try fixture.load().catalogue.first)
        #expect(sku.name == "${HOME}" && sku.appleProductIDs == ["x.day${days}"])
        #expect(sku.description == "$${X} ${lower")
    }

    @Test func `import and export are inverse`() throws {
        let odd = """
            skus:
              - id: odd
                name: "yes"
                description: "12: three\\n# no comment\\n\\ttab, 'quotes' \\"and\\" ${NAME} "
                kind: consumable
                prices: [{currency: CNY, value: 0}, {currency: JPY, value: 1000000000000}]
                units: {coins: 5}
                attributes:
                  {"": null, "null": "~", "1": [1, -2.5, 1e300, true, "true", [], {}],
                   deep: {a: [{b: "007"}]}, "a b": " x", "年": "对讲机"}
                localizations: {en: {name: "0x10"}, zh-Hans: {name: "- a", description: "!tag &a *b"}}
                consumption: grant_full
                client_fallback: true
                stack_group: "no"
                tier: "1.0"
            """
        let shipped = try ShippedConfiguration.load().catalogue
        for skus in [try CatalogFile.parse(odd, file: "x"), shipped, []] {
            let text = try CatalogFile.render(skus)
            #expect(try CatalogFile.parse(text, file: "x") == skus)
            #expect(try CatalogFile.render(CatalogFile.parse(text, file: "x")) == text)
        }
    }

    @Test func `an export is readable and leaves the database's number out`() throws {
        var skus = try CatalogFile.parse("skus: [{\(Self.pass), \(Self.price), number: 7}]", file: "x")
        #expect(skus[0].number == 0)
        skus[0].number = 9
        let text = try CatalogFile.render(skus)
        #expect(text.hasPrefix("skus:\n- id: a\n  name: A\n"))
        #expect(text.contains("  prices: [{currency: CNY, value: 1}]\n"))
        #expect(!text.contains("number"))
    }
}
