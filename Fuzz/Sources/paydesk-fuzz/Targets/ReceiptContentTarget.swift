import AppleTrust

/// The attributes are hostile, and signed by the true key: this reaches whatever is read behind the signature.
///
/// A signature by RSA is slow, so only one in 64 gets one; the explainer reads the others without.
struct ReceiptContentTarget: FuzzTarget {
    let name = "receipt-content"

    var seeds: [[UInt8]] { ReceiptSamples.contents + [[0x31, 0], [0x31, 0x80, 0, 0], []] }

    var words: [String] { ReceiptSamples.words }

    func run(_ input: [UInt8]) -> Bool {
        let isSigned = input.reduce(0, &+).isMultiple(of: 64) || ReceiptSamples.contents.contains(input)
        guard isSigned else {
            ReceiptVerdict.checkUnsigned(ReceiptSamples.unsigned(input))
            return false
        }
        guard let receipt = ReceiptVerdict(ReceiptSamples.signed(input), isExplained: true).receipt else {
            return false
        }
        check(receipt, input)
        return true
    }

    /// An accepted receipt says what stands in its content, within the bounds.
    private func check(_ receipt: VerifiedReceipt, _ content: [UInt8]) {
        Harness.expect(receipt.bundleID == Verifiers.bundleID, "accepted the app \(receipt.bundleID)")
        let environment: AppleEnvironment =
            switch receipt.type {
            case "Production", "ProductionVPP": .production
            case "Xcode": .xcode
            default: .sandbox
            }
        Harness.expect(receipt.environment == environment, "\(String(describing: receipt.type)) is \(environment)")
        Harness.expect(
            (1_600_000_000_000...2_000_000_000_999).contains(receipt.creationDate), "accepted outside its validity")
        var texts: [String?] = [
            receipt.bundleID, receipt.type, receipt.applicationVersion, receipt.originalApplicationVersion,
        ]
        for purchase in receipt.purchases {
            texts += [purchase.productID, purchase.transactionID, purchase.originalTransactionID]
            texts.append(purchase.promotionalOfferID)
        }
        for text in texts.compactMap({ $0 }) where !text.isEmpty {
            Harness.expect(text.utf8.count <= 255, "a text of \(text.utf8.count) octets")
            Harness.expect(content.firstRange(of: Array(text.utf8)) != nil, "\(text.debugDescription) is not there")
        }
        for purchase in receipt.purchases {
            Harness.expect(!purchase.productID.isEmpty && !purchase.transactionID.isEmpty, "a purchase of nothing")
            Harness.expect((1...Int64(Int32.max)).contains(purchase.quantity), "quantity \(purchase.quantity)")
        }
    }
}
