import Domain
import Testing

@Suite("Offers of a SKU")
struct PromotionalOfferTests {
    private static func sku(_ offers: String, kind: String = "subscription") -> String {
        """
        {"id":"news","name":"News","kind":"\(kind)","tier":"News","duration_days":30,
         "prices":[{"currency":"CNY","value":1}],"apple_product_ids":["news.month","com.app:news.year"],
         "offers":\(offers)}
        """
    }

    @Test func `what an offer leaves out is the usual`() throws {
        let sku = try decoded(Self.sku(#"[{"id":"a","product_id":"news.month"}]"#), as: SKU.self).validated()
        #expect(sku.offers == [PromotionalOffer(id: "a", productID: "news.month", audience: .any, isOnce: false)])
    }

    @Test func `a product that is bound to an app is named without it`() throws {
        let sku = try decoded(Self.sku(#"[{"id":"a","product_id":"news.year"}]"#), as: SKU.self)
        #expect(try sku.validated().offers.count == 1)
        let bound = try decoded(Self.sku(#"[{"id":"a","product_id":"com.app:news.year"}]"#), as: SKU.self)
        #expect(throws: SKUFault.self) { try bound.validated() }
    }

    @Test(
        arguments: [
            #"[{"id":"","product_id":"news.month"}]"#, #"[{"id":"two words","product_id":"news.month"}]"#,
            #"[{"id":"a","product_id":"elsewhere"}]"#,
            #"[{"id":"a","product_id":"news.month"},{"id":"a","product_id":"news.month","once":true}]"#,
        ])
    func `a broken rule is the list's`(_ offers: String) throws {
        let sku = try decoded(Self.sku(offers), as: SKU.self)
        #expect { try sku.validated() } throws: { ($0 as? SKUFault)?.field == "offers" }
    }

    @Test func `one id may stand on two products, and only a subscription has offers`() throws {
        let two = #"[{"id":"a","product_id":"news.month"},{"id":"a","product_id":"news.year"}]"#
        #expect(try decoded(Self.sku(two), as: SKU.self).validated().offers.count == 2)
        let pass = try decoded(Self.sku(two, kind: "non_renewing"), as: SKU.self)
        #expect { try pass.validated() } throws: { ($0 as? SKUFault)?.field == "offers" }
    }
}
