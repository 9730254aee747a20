import Foundation
import Testing

@testable import Domain

@Suite("Storefronts in which is sold outside of the App Store")
struct ExternalRegionsTests {
    private static let regions = ExternalRegions([
        ExternalRegion(storefront: "DEU", from: Timestamp(100), rates: ["standard": 1_900]),
        ExternalRegion(storefront: "DEU", from: Timestamp(200), rates: ["standard": 2_000]),
        ExternalRegion(storefront: "NLD", from: Timestamp(100), rates: ["reduced": 900]),
    ])

    private static func rate(
        _ storefront: String, _ category: String? = "standard", _ currency: String = "EUR", at time: Int64 = 150
    ) throws -> Int64 {
        try regions.rate(
            in: storefront, of: category, currency: try #require(Currency(currency)), at: Timestamp(time))
    }

    @Test
    func `the entry that began last counts`() throws {
        #expect(try Self.rate("DEU") == 1_900)
        #expect(try Self.rate("DEU", at: 200) == 2_000)
        #expect(try Self.rate("NLD", "reduced") == 900)
    }

    @Test(arguments: [
        ("ESP", "standard" as String?, "EUR", 150 as Int64, ExternalRegions.Refusal.storefront),
        ("DEU", "standard", "EUR", 99, .storefront), ("DEU", nil, "EUR", 150, .taxCategory),
        ("NLD", "standard", "EUR", 150, .taxRate), ("DEU", "standard", "MAD", 150, .currency),
    ])
    func `everything else is refused with its reason`(
        _ storefront: String, _ category: String?, _ currency: String, _ time: Int64,
        _ refusal: ExternalRegions.Refusal
    ) {
        #expect(throws: refusal) { try Self.rate(storefront, category, currency, at: time) }
    }

    @Test
    func `Apple's list of currencies is complete and known`() {
        #expect(ExternalRegions.currencies.count == 44)
        #expect(ExternalRegions.currencies.allSatisfy { $0 == "BGN" || Currency($0) != nil })
    }

    private static func text(_ json: String) -> String {
        Data(json.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    }

    @Test
    func `a token is base64url of Apple's JSON, with or without padding`() throws {
        let json = """
            {"externalPurchaseId":"SANDBOX_1","appAppleId":7,"bundleId":"com.example.app",
             "tokenCreationDate":1706047472367,"tokenExpirationDate":1708639472367,"tokenType":"SERVICES","newer":1}
            """
        let padded = Self.text(json)
        let token = try #require(ExternalPurchaseToken(padded))
        #expect(ExternalPurchaseToken(padded.replacing("=", with: "")) == token)
        #expect(token.environment == .sandbox && token.type == "SERVICES")
        #expect(token.createdAt == Timestamp(1_706_047_472) && token.expiresAt == Timestamp(1_708_639_472))
        #expect(ExternalPurchaseToken.environment(of: "2924c319") == .production)
    }

    @Test(arguments: [
        "", "no token!", "[1]", "{}", #"{"externalPurchaseId":"a","appAppleId":7,"bundleId":"b"}"#,
        #"{"externalPurchaseId":"","appAppleId":7,"bundleId":"b","tokenCreationDate":1}"#,
        #"{"externalPurchaseId":"a b","appAppleId":7,"bundleId":"b","tokenCreationDate":1}"#,
        #"{"externalPurchaseId":"a","appAppleId":-7,"bundleId":"b","tokenCreationDate":1}"#,
        #"{"externalPurchaseId":"a","appAppleId":7,"bundleId":"b","tokenCreationDate":"now"}"#,
        #"{"externalPurchaseId":"a","appAppleId":7,"bundleId":"b","tokenCreationDate":-1}"#,
    ])
    func `everything else is no token`(_ json: String) {
        #expect(ExternalPurchaseToken(Self.text(json)) == nil)
        #expect(ExternalPurchaseToken(json) == nil)
    }
}
