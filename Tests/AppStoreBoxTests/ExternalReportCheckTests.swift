import Domain
import Foundation
import Testing

@testable import AppStoreBox

@Suite("Reports of external purchases at the App Store in a box")
struct ExternalReportCheckTests {
    private static let now: Int64 = 1_706_047_500_000
    private static let buy = """
        {"lineItemId":"a","creationDate":1706047472000,"eventType":"BUY","productType":"ONE_TIME_BUY",
         "productIdentifier":"pass","quantity":1,"pricingCurrency":"EUR","reportingCurrency":"EUR",
         "amountTaxInclusive":9990,"amountTaxExclusive":8395,"taxAmount":1595,"netAmountTaxExclusive":8395,
         "taxCountry":"DEU"}
        """
    private static let refund = """
        {"lineItemId":"b","creationDate":1706047473000,"eventType":"REFUND","pricingCurrency":"EUR",
         "reportingCurrency":"EUR","amountTaxInclusive":4000,"amountTaxExclusive":3361,"taxAmount":639,
         "netAmountTaxExclusive":5034,"taxCountry":"DEU","referenceLineItemId":"a"}
        """

    private static func report(_ items: String..., number: Int = 1, status: String = "LINE_ITEM") -> String {
        let list = items.isEmpty ? "" : #","lineItems":[\#(items.joined(separator: ","))]"#
        return """
            {"requestIdentifier":"1cdc286e-7389-417c-b58f-7a7d196e5bb\(number)","externalPurchaseId":"SANDBOX_1",
             "status":"\(status)"\(list)}
            """
    }

    private static func verdict(_ report: String, after earlier: String...) throws -> ExternalReportCheck.Verdict {
        let known = try earlier.map { try JSONDecoder().decode(ExternalReportBody.self, from: Data($0.utf8)) }
        let json = try JSONDecoder().decode(JSONValue.self, from: Data(report.utf8))
        return ExternalReportCheck(after: known, now: now).verdict(json)
    }

    /// The field of the first fault; nil for a report that is accepted or malformed.
    private static func field(_ verdict: ExternalReportCheck.Verdict) -> String? {
        if case .refused(let faults) = verdict { faults.first?.fieldName } else { nil }
    }

    @Test
    func `what Apple documents is accepted`() throws {
        #expect(try Self.verdict(Self.report(Self.buy)) == .accepted)
        #expect(try Self.verdict(Self.report(Self.refund, number: 2), after: Self.report(Self.buy)) == .accepted)
        for status in ["NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "DUPLICATE_TOKEN"] {
            #expect(try Self.verdict(Self.report(status: status)) == .accepted)
        }
    }

    @Test
    func `another form, and a duplicate, are malformed`() throws {
        for report in [
            "[]", "{}", Self.report(), Self.report(Self.buy, status: "NO_LINE_ITEM"), Self.report(status: "OTHER"),
            Self.report(Self.buy).replacing("SANDBOX_1", with: "2924c319"),
            Self.report(Self.buy).replacing("\"status\"", with: "\"more\":1,\"status\""),
        ] {
            guard case .malformed = try Self.verdict(report) else {
                Issue.record("accepted or refused: \(report)")
                continue
            }
        }
        guard case .malformed = try Self.verdict(Self.report(Self.buy), after: Self.report(Self.buy)) else {
            Issue.record("a duplicate was taken")
            return
        }
    }

    @Test(arguments: [
        ("\"quantity\":1,", "", "quantity"), ("\"quantity\":1", "\"quantity\":0", "quantity"),
        ("\"quantity\":1", "\"quantity\":\"1\"", "quantity"),
        ("\"taxCountry\":\"DEU\"", "\"taxCountry\":\"DE\"", "taxCountry"),
        ("\"taxAmount\":1595", "\"taxAmount\":1594", "amountTaxInclusive"),
        ("\"EUR\"", "\"MAD\"", "reportingCurrency"),
        ("8395,\n \"taxCountry", "8394,\n \"taxCountry", "netAmountTaxExclusive"),
        ("1706047472000", "1306047472000", "creationDate"), ("1706047472000", "1906047472000", "creationDate"),
        ("\"quantity\":1", "\"quantity\":1,\"exchange\":1", "exchange"),
        ("\"quantity\":1", "\"quantity\":1,\"restatement\":true", "lineItemId"),
        ("\"quantity\":1", "\"quantity\":1,\"erroneouslySubmitted\":true", "erroneouslySubmitted"),
    ])
    func `a faulty line item is refused with its field`(_ part: String, _ other: String, _ field: String) throws {
        let item = Self.buy.replacing(part, with: other)
        try #require(item != Self.buy)
        #expect(Self.field(try Self.verdict(Self.report(item))) == field)
    }

    @Test
    func `line items are compared with those before them`() throws {
        #expect(Self.field(try Self.verdict(Self.report(Self.refund))) == "referenceLineItemId")
        #expect(
            Self.field(try Self.verdict(Self.report(Self.buy, number: 2), after: Self.report(Self.buy)))
                == "lineItemId")
        // Two net amounts of one purchase stand in no report.
        #expect(Self.field(try Self.verdict(Self.report(Self.buy, Self.refund))) == "netAmountTaxExclusive")
        #expect(
            Self.field(
                try Self.verdict(Self.report(number: 2, status: "NO_LINE_ITEM"), after: Self.report(Self.buy)))
                == "status")
    }
}
