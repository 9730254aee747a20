import AppleTrust
import Testing

@Suite("Renewal information and other payloads")
struct RenewalInfoTests {
    private let verifier = TestVerifier.new()

    private func text(_ changes: [String: String?] = [:]) -> String {
        TestJWS(payload: TestJWS.renewalInfo.with(changes)).text
    }

    @Test func `every field has its type`() throws {
        let info = try verifier.renewalInfo(
            text([
                "autoRenewProductId": "\"com.example.pro\"", "autoRenewStatus": "0", "isInBillingRetryPeriod": "true",
                "gracePeriodExpiresDate": "5", "expirationIntent": "2", "priceIncreaseStatus": "1", "offerType": "4",
                "eligibleWinBackOfferIds": "[\"a\",\"b\"]", "renewalDate": "6", "renewalPrice": "990",
                "currency": "\"EUR\"", "recentSubscriptionStartDate": "7", "renewalBillingPlanType": "\"MONTHLY\"",
                "appAccountToken": "\"6D7A1A51-0F0A-4F6E-9C1B-4A0A9C3F1E2D\"", "appTransactionId": "\"704\"",
            ]))
        #expect(info.originalTransactionID == "2000000000000000" && info.productID == "com.example.vip.month")
        #expect(info.autoRenewProductID == "com.example.pro" && info.willRenew == false && info.isInBillingRetry)
        #expect(info.gracePeriodExpiresDate == 5 && info.expirationIntent?.known == .billingError)
        #expect(info.priceIncrease?.known == .consentedOrNotified && info.offer?.type.known == .winBack)
        #expect(info.winBackOfferIDs == ["a", "b"] && info.renewalDate == 6 && info.renewalPrice == 990)
        #expect(info.currency == "EUR" && info.recentSubscriptionStartDate == 7 && info.appTransactionID == "704")
        #expect(info.appAccountToken == "6d7a1a51-0f0a-4f6e-9c1b-4a0a9c3f1e2d" && info.billingPlan?.known == .monthly)
        #expect(info.environment == .production && info.signer == .apple && info.signedDate == TestTime.now)
    }

    @Test(
        arguments: [
            (["originalTransactionId": nil], AppleRefusal.Reason.malformed), (["environment": nil], .malformed),
            (["environment": "\"Xcode\""], .wrongEnvironment), (["originalTransactionId": "7"], .malformed),
        ] as [([String: String?], AppleRefusal.Reason)])
    func `a wrong field is refused`(_ changes: [String: String?], _ reason: AppleRefusal.Reason) {
        #expect {
            _ = try verifier.renewalInfo(text(changes))
        } throws: {
            ($0 as? AppleRefusal)?.reason == reason
        }
    }

    @Test(arguments: [
        ("autoRenewStatus", "2"), ("autoRenewStatus", "true"), ("eligibleWinBackOfferIds", "[1]"),
        ("eligibleWinBackOfferIds", "\"none\""), ("renewalPrice", "29.9"), ("expirationIntent", "77"),
        ("commitmentInfo", "12"), ("renewalDate", "-5"), ("gracePeriodExpiresDate", "9007199254740992"),
    ])
    func `an odd field is no reason to drop it`(_ name: String, _ value: String) throws {
        #expect(try verifier.renewalInfo(text([name: value])).unreadFields == [name])
    }

    @Test func `a commitment's renewal has its own names`() throws {
        let own = """
            {"commitmentRenewalDate":8,"commitmentAutoRenewStatus":0,"commitmentAutoRenewProductId":"p",
            "commitmentRenewalPrice":990,"commitmentRenewalBillingPlanType":"MONTHLY","commitmentExpiresDate":5}
            """
        let commitment = try #require(try verifier.renewalInfo(text(["commitmentInfo": own])).commitment)
        #expect(commitment.renewalDate == 8 && commitment.willRenew == false && commitment.autoRenewProductID == "p")
        #expect(commitment.renewalPrice == 990 && commitment.billingPlan?.known == .monthly)
    }

    @Test func `it belongs to the transactions of its subscription in its environment only`() throws {
        let info = try verifier.renewalInfo(text())
        #expect(info.belongs(to: try verifier.transaction(TestJWS().text)))
        for changes in [["originalTransactionId": "\"1\""], ["environment": "\"Sandbox\""]] {
            let other = TestJWS(payload: TestJWS.transaction.with(changes as [String: String?])).text
            #expect(!info.belongs(to: try verifier.transaction(other)))
        }
    }

    @Test func `renewal information is no transaction`() {
        #expect(TestVerifier.reason(text()) == .malformed)
    }

    @Test func `any payload is verified without regard to app and environment`() throws {
        let bytes = Array("{\"notificationType\":\"TEST\",\"signedDate\":\(TestTime.now),\"data\":{}}".utf8)
        let payload = try verifier.payload(TestJWS(payloadBytes: bytes).text)
        #expect(payload.json == bytes && payload.signedDate == TestTime.now && payload.signer == .apple)
        #expect(throws: AppleRefusal.self) {
            try verifier.payload(TestJWS(payloadBytes: bytes, signer: .new(.p256)).text)
        }
    }
}
