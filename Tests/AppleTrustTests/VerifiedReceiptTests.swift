import AppleTrust
import Testing

@Suite("What a verified receipt says")
struct VerifiedReceiptTests {
    private func read(_ edit: (inout MintReceipt) -> Void = { _ in }) throws -> VerifiedReceipt {
        try ReceiptCase.verifier.receipt(MintReceipt().with(edit).text)
    }

    @Test func `every field is read`() throws {
        let receipt = try read { $0.fields[21] = MintDER.ia5("4001-01-01T00:00:00Z") }
        #expect(receipt.type == "Production" && receipt.environment == .production)
        #expect(receipt.bundleID == "com.example.app" && receipt.appItemID == 1_234_567_890)
        #expect(receipt.downloadID == 77 && receipt.versionExternalID == 88)
        #expect(receipt.applicationVersion == "1.2.3" && receipt.originalApplicationVersion == "1.0")
        #expect(receipt.creationDate == MintTime.now)
        #expect(receipt.originalPurchaseDate == MintTime.now - 300 * MintTime.day)
        #expect(receipt.expirationDate == 64_092_211_200_000)
    }

    @Test func `every field of a purchase is read`() throws {
        let end = MintTime.now + 30 * MintTime.day
        let receipt = try read {
            $0.purchases = [
                MintPurchase([
                    1701: MintDER.integer(3), 1702: MintDER.utf8("com.example.vip"), 1703: MintDER.utf8("22"),
                    1705: MintDER.utf8("11"), 1706: MintReceipt.date(MintTime.now - MintTime.day),
                    1707: MintDER.integer(3), 1708: MintReceipt.date(end), 1711: MintDER.integer(1_000_000_000_123),
                    1712: MintReceipt.date(MintTime.now), 1713: MintDER.integer(1), 1719: MintDER.integer(1),
                    1721: MintDER.utf8("spring"),
                ]), MintPurchase(),
            ]
            // In their own order, which is not that of a SET of DER.
            $0.arrange = { MintDER.element(0x31, $0) }
        }
        let purchase = try #require(receipt.purchases.first)
        #expect(purchase.quantity == 3 && purchase.productID == "com.example.vip" && purchase.transactionID == "22")
        #expect(purchase.originalTransactionID == "11" && purchase.purchaseDate == MintTime.now - 5_000)
        #expect(purchase.originalPurchaseDate == MintTime.now - MintTime.day && purchase.expiresDate == end)
        #expect(purchase.cancellationDate == MintTime.now && purchase.webOrderLineItemID == 1_000_000_000_123)
        #expect(purchase.productType == .autoRenewable && purchase.promotionalOfferID == "spring")
        #expect(purchase.isTrial && purchase.isIntroductory)
        let plain = try #require(receipt.purchases.last)
        #expect(receipt.purchases.count == 2 && plain.productType == .consumable && plain.quantity == 1)
        #expect(plain.expiresDate == nil && plain.cancellationDate == nil && plain.webOrderLineItemID == nil)
        #expect(!plain.isTrial && !plain.isIntroductory && plain.promotionalOfferID == nil)
    }

    @Test func `a purchase without an original is its own`() throws {
        for purchase in [MintPurchase(without: [1705, 1706]), MintPurchase([1705: MintDER.utf8("")], without: [1706])] {
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
        let text = MintReceipt().with { $0.fields[0] = type.map(MintDER.utf8) }.text
        let open = MintVerifier.new(environments: Set(AppleEnvironment.allCases), roots: MintReceiptChain.trusted)
        let receipt = try open.receipt(text)
        #expect(receipt.type == type && receipt.environment == environment)
        for accepted in AppleEnvironment.allCases {
            let verifier = MintVerifier.new(environments: [accepted], roots: MintReceiptChain.trusted)
            #expect(
                ReceiptCase.reason(text, verifier) == (accepted == environment ? nil : .wrongEnvironment))
        }
    }

    @Test func `a thousand purchases are read in their order`() throws {
        for encoding in MintCMS.Encoding.allCases {
            let receipt = try read {
                $0.purchases = (0..<1_000).map { MintPurchase([1703: MintDER.utf8("\($0)")]) }
                $0.arrange = { MintDER.element(0x31, $0) }
                $0.message = { $0.encoding = encoding }
            }
            #expect(receipt.purchases.map(\.transactionID) == (0..<1_000).map { "\($0)" })
        }
    }

    @Test func `no purchases are none`() throws {
        #expect(try read { $0.purchases = [] }.purchases.isEmpty)
    }
}
