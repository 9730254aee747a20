import AppleTrust
import Testing

@Suite("What a verified transaction says")
struct VerifiedTransactionTests {
    private let verifier = TestVerifier.new()

    private func verified(_ changes: [String: String?] = [:]) throws -> VerifiedTransaction {
        try verifier.transaction(TestJWS(payload: TestJWS.transaction.with(changes)).text)
    }

    @Test func `every field has its type`() throws {
        let full = try verified([
            "webOrderLineItemId": "\"3000\"", "subscriptionGroupIdentifier": "\"20900001\"",
            "type": "\"Auto-Renewable Subscription\"", "expiresDate": "\(TestTime.now + 1)", "quantity": "3",
            "isUpgraded": "true", "offerType": "2", "offerIdentifier": "\"spring\"",
            "offerDiscountType": "\"FREE_TRIAL\"", "offerPeriod": "\"P1M\"", "transactionReason": "\"RENEWAL\"",
            "inAppOwnershipType": "\"FAMILY_SHARED\"", "revocationDate": "\(TestTime.now + 2)",
            "revocationReason": "1", "revocationType": "\"REFUND_PRORATED\"", "revocationPercentage": "50000",
            "billingPlanType": "\"MONTHLY\"",
            "commitmentInfo": "{\"billingPeriodNumber\":2,\"totalBillingPeriods\":12,"
                + "\"commitmentPrice\":1,\"commitmentExpiresDate\":3}",
        ])
        #expect(full.transactionID == "2000000000000001" && full.originalTransactionID == "2000000000000000")
        #expect(full.webOrderLineItemID == "3000" && full.subscriptionGroupID == "20900001")
        #expect(full.bundleID == "com.example.app" && full.productID == "com.example.vip.month")
        #expect(full.type.known == .autoRenewableSubscription && full.quantity == 3 && full.isUpgraded)
        #expect(full.purchaseDate == TestTime.now - 5_000 && full.originalPurchaseDate == TestTime.now - 9_000)
        #expect(full.expiresDate == TestTime.now + 1 && full.signedDate == TestTime.now)
        #expect(full.environment == .production && full.signer == .apple)
        #expect(full.appAccountToken == "6d7a1a51-0f0a-4f6e-9c1b-4a0a9c3f1e2d")
        #expect(full.appTransactionID == "704000000000001" && full.ownership == .known(.familyShared))
        #expect(full.reason?.known == .renewal && full.price == 1_990 && full.currency == "USD")
        #expect(full.storefront == "USA" && full.storefrontID == "143441" && full.billingPlan?.known == .monthly)
        #expect(full.offer?.type.known == .promotional && full.offer?.identifier == "spring")
        #expect(full.offer?.discount?.known == .freeTrial && full.offer?.period == "P1M")
        #expect(full.commitment?.billingPeriodNumber == 2 && full.commitment?.totalBillingPeriods == 12)
        #expect(full.commitment?.price == 1 && full.commitment?.expiresDate == 3)
        #expect(full.revocationDate == TestTime.now + 2 && full.revocationReason?.known == .issueInApp)
        #expect(full.revocationType?.known == .proratedRefund && full.revocationPercentage == 50_000)
    }

    @Test func `a transaction that names no app is that of the question, and of no other app`() throws {
        let nameless = TestJWS(payload: TestJWS.transaction.with(["bundleId": nil])).text
        #expect(try verifier.transaction(nameless, of: "com.example.app").bundleID == "com.example.app")
        for text in [nameless, TestJWS(payload: TestJWS.transaction.with(["bundleId": "null"])).text] {
            #expect(TestVerifier.reason(text) == .malformed)
        }
        func reason(_ text: String, of app: String) -> AppleRefusal.Reason? {
            do throws(AppleRefusal) {
                _ = try verifier.transaction(text, of: app)
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(reason(nameless, of: "com.other") == .wrongApp)
        let others = TestJWS(payload: TestJWS.transaction.with(["bundleId": "\"com.other\""])).text
        #expect(reason(others, of: "com.example.app") == .wrongApp)
        let empty = TestJWS(payload: TestJWS.transaction.with(["bundleId": "\"\""])).text
        #expect(reason(empty, of: "com.example.app") == .malformed)
        let forged = TestJWS(payload: TestJWS.transaction.with(["bundleId": nil]), signer: .new(.p256)).text
        #expect(reason(forged, of: "com.example.app") == .badSignature)
    }

    @Test func `what Apple leaves out is absent, also when it is null`() throws {
        let optional = TestJWS.transaction.keys.filter {
            ![
                "transactionId", "originalTransactionId", "bundleId", "productId", "purchaseDate", "signedDate", "type",
                "environment",
            ].contains($0)
        }
        for value: String? in [nil, "null"] {
            let bare = try verified(Dictionary(uniqueKeysWithValues: optional.map { ($0, value) }))
            #expect(bare.quantity == 1 && !bare.isUpgraded && bare.price == nil && bare.currency == nil)
            #expect(bare.appAccountToken == nil && bare.ownership == nil && bare.reason == nil && bare.offer == nil)
            #expect(bare.originalPurchaseDate == nil && bare.expiresDate == nil && bare.revocationDate == nil)
        }
    }

    @Test func `words and numbers that Apple adds later keep their raw value`() throws {
        let later = try verified([
            "type": "\"Rental\"", "inAppOwnershipType": "\"GIFTED\"", "transactionReason": "\"SWAP\"", "offerType": "9",
            "offerDiscountType": "\"NEW\"", "revocationReason": "7", "revocationType": "\"NEW\"", "brandNew": "[1]",
        ])
        #expect(later.type == .unknown("Rental") && later.type.known == nil && later.type.rawValue == "Rental")
        #expect(later.ownership == .unknown("GIFTED") && later.reason == .unknown("SWAP"))
        #expect(later.offer?.type == .unknown(9) && later.offer?.discount == .unknown("NEW"))
        #expect(later.revocationReason?.rawValue == 7 && later.revocationType == .unknown("NEW"))
        #expect(String(decoding: later.json, as: UTF8.self).contains("\"brandNew\":[1]"))
        #expect(
            later.unreadFields == [
                "type", "inAppOwnershipType", "transactionReason", "offerDiscountType", "offerType", "revocationReason",
                "revocationType",
            ])
    }

    @Test func `what is odd counts as absent, under its name`() throws {
        for odd in PayloadCases.oddFields {
            let named = odd.value == "null" || odd.value == "\"\"" ? [] : [odd.name]
            #expect(try verified([odd.name: odd.value]).unreadFields == named, "\(odd)")
        }
        let odd = try verified(["quantity": "0", "price": "-1", "currency": "\"usd\"", "expiresDate": "\"soon\""])
        #expect(odd.quantity == 1 && odd.price == nil && odd.currency == nil && odd.expiresDate == nil)
        // What was taken back stays so, whenever that was.
        for date in ["-5", "\"yesterday\"", "253402300800000"] {
            #expect(try verified(["revocationDate": date]).revocationDate == TestTime.now)
        }
    }

    @Test(arguments: [
        ("1700000000000.75", 1_700_000_000_000), ("1.7e12", 1_700_000_000_000),
        ("0.9", 0), ("0", 0), ("253402300799999", 253_402_300_799_999),
    ])
    func `times are floored to milliseconds`(_ text: String, _ milliseconds: Int64) throws {
        #expect(try verified(["originalPurchaseDate": text]).originalPurchaseDate == milliseconds)
    }

    @Test(arguments: [
        ("0", 0), ("1990.0", 1_990), ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", Int64.max),
    ])
    func `prices are exact integers`(_ text: String, _ price: Int64) throws {
        #expect(try verified(["price": text]).price == price)
    }

    @Test func `of several apps each is accepted`() throws {
        let both = try AppleVerifier(
            .init(
                apps: [AppleApp(bundleID: "com.a"), AppleApp(bundleID: "com.b", appAppleID: 7)],
                extraRoots: [TestChain.root.der]))
        for name in ["com.a", "com.b"] {
            let text = TestJWS(payload: TestJWS.transaction.with(["bundleId": "\"\(name)\""])).text
            #expect(try both.transaction(text).bundleID == name)
        }
        #expect(both.app(bundleID: "com.b")?.appAppleID == 7 && both.app(bundleID: "com.c") == nil)
        #expect(both.accepts(.sandbox) && !both.accepts(.xcode))
    }
}
