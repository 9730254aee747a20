import AppleTrust
import Testing

@Suite("What a verified receipt says")
struct VerifiedReceiptTests {
    private func read(_ edit: (inout TestReceipt) -> Void = { _ in }) throws -> VerifiedReceipt {
        try ReceiptCase.verifier.receipt(TestReceipt().with(edit).text)
    }

    @Test func `every field is read`() throws {
        let receipt = try read { $0.fields[21] = TestDER.ia5("4001-01-01T00:00:00Z") }
        #expect(receipt.type == "Production" && receipt.environment == .production)
        #expect(receipt.bundleID == "com.example.app" && receipt.appItemID == 1_234_567_890)
        #expect(receipt.downloadID == 77 && receipt.versionExternalID == 88)
        #expect(receipt.applicationVersion == "1.2.3" && receipt.originalApplicationVersion == "1.0")
        #expect(receipt.creationDate == TestTime.now)
        #expect(receipt.originalPurchaseDate == TestTime.now - 300 * TestTime.day)
        #expect(receipt.expirationDate == 64_092_211_200_000)
    }

    @Test func `every field of a purchase is read`() throws {
        let end = TestTime.now + 30 * TestTime.day
        let receipt = try read {
            $0.purchases = [
                TestPurchase([
                    1701: TestDER.integer(3), 1702: TestDER.utf8("com.example.vip"), 1703: TestDER.utf8("22"),
                    1705: TestDER.utf8("11"), 1706: TestReceipt.date(TestTime.now - TestTime.day),
                    1707: TestDER.integer(3), 1708: TestReceipt.date(end), 1711: TestDER.integer(1_000_000_000_123),
                    1712: TestReceipt.date(TestTime.now), 1713: TestDER.integer(1), 1719: TestDER.integer(1),
                    1721: TestDER.utf8("spring"),
                ]), TestPurchase(),
            ]
            // In their own order, which is not that of a SET of DER.
            $0.arrange = { TestDER.element(0x31, $0) }
        }
        let purchase = try #require(receipt.purchases.first)
        #expect(purchase.quantity == 3 && purchase.productID == "com.example.vip" && purchase.transactionID == "22")
        #expect(purchase.originalTransactionID == "11" && purchase.purchaseDate == TestTime.now - 5_000)
        #expect(purchase.originalPurchaseDate == TestTime.now - TestTime.day && purchase.expiresDate == end)
        #expect(purchase.cancellationDate == TestTime.now && purchase.webOrderLineItemID == 1_000_000_000_123)
        #expect(purchase.productType == .autoRenewable && purchase.promotionalOfferID == "spring")
        #expect(purchase.isTrial && purchase.isIntroductory)
        let plain = try #require(receipt.purchases.last)
        #expect(receipt.purchases.count == 2 && plain.productType == .consumable && plain.quantity == 1)
        #expect(plain.expiresDate == nil && plain.cancellationDate == nil && plain.webOrderLineItemID == nil)
        #expect(!plain.isTrial && !plain.isIntroductory && plain.promotionalOfferID == nil)
    }

    @Test func `a purchase without an original is its own`() throws {
        for purchase in [TestPurchase(without: [1705, 1706]), TestPurchase([1705: TestDER.utf8("")], without: [1706])] {
            let receipt = try read { $0.purchases = [purchase] }
            let purchase = try #require(receipt.purchases.first)
            #expect(purchase.originalTransactionID == purchase.transactionID && purchase.originalPurchaseDate == nil)
        }
    }

    @Test(
        arguments: [
            ("Production", .production), ("ProductionVPP", .production), ("ProductionSandbox", .sandbox),
            ("ProductionVPPSandbox", .sandbox), ("Xcode", .xcode), ("production", .sandbox), ("", .sandbox),
            ("Production ", .sandbox), (nil, .sandbox),
        ] as [(String?, AppleEnvironment)])
    func `the type gives the environment`(_ type: String?, _ environment: AppleEnvironment) throws {
        let text = TestReceipt().with { $0.fields[0] = type.map(TestDER.utf8) }.text
        let open = TestVerifier.new(environments: Set(AppleEnvironment.allCases), roots: TestReceiptChain.trusted)
        let receipt = try open.receipt(text)
        #expect(receipt.type == type && receipt.environment == environment)
        for accepted in AppleEnvironment.allCases {
            let verifier = TestVerifier.new(environments: [accepted], roots: TestReceiptChain.trusted)
            #expect(
                ReceiptCase.reason(text, verifier) == (accepted == environment ? nil : .wrongEnvironment))
        }
    }

    @Test func `a thousand purchases are read in their order`() throws {
        for encoding in TestCMS.Encoding.allCases {
            let receipt = try read {
                $0.purchases = (0..<1_000).map { TestPurchase([1703: TestDER.utf8("\($0)")]) }
                $0.arrange = { TestDER.element(0x31, $0) }
                $0.message = { $0.encoding = encoding }
            }
            #expect(receipt.purchases.map(\.transactionID) == (0..<1_000).map { "\($0)" })
        }
    }

    @Test func `no purchases are none`() throws {
        #expect(try read { $0.purchases = [] }.purchases.isEmpty)
    }
}
