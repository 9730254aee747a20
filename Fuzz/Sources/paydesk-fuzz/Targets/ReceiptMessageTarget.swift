import AppleTrust
import Foundation

/// The whole message is hostile, DER or BER: nothing may be believed but what was signed here.
struct ReceiptMessageTarget: FuzzTarget {
    let name = "receipt-message"

    var seeds: [[UInt8]] {
        let content = ReceiptSamples.contents[1]
        let sound = ReceiptSamples.signed(content)
        let forged = ReceiptSamples.signer([UInt8](repeating: 1, count: 256), [], overSHA1: false)
        let chain = [ReceiptCertificates.leaf, ReceiptCertificates.intermediate]
        return ReceiptSamples.Style.allCases.map { ReceiptSamples.signed(content, $0) }
            + ReceiptSamples.contents.map { ReceiptSamples.signed($0) }
            + [
                ReceiptSamples.unsigned(content), ReceiptSamples.message(content, chain, [forged]),
                ReceiptSamples.message(content, chain, []),
                ReceiptSamples.message(content, chain + [ReceiptCertificates.root], [forged]),
                ReceiptSamples.message(content, chain, [forged, forged]),
                ReceiptSamples.message(content, [ReceiptCertificates.unmarked] + chain.dropFirst(), [forged]),
                Array(sound.prefix(40)), [0x30, 0x80, 0x24, 0x80, 0, 0], [],
            ]
    }

    var words: [String] { ReceiptSamples.words }

    func run(_ input: [UInt8]) -> Bool {
        let verdict = ReceiptVerdict(input, isExplained: input.reduce(0, &+).isMultiple(of: 32))
        guard let receipt = verdict.receipt else { return false }
        Harness.expect(Self.signed.contains("\(receipt)"), "accepted, and nobody signed this: \(receipt)")
        return true
    }

    /// All that the signed contents say.
    private static let signed = Set(
        ReceiptSamples.contents.map { content in
            Harness.minted { "\(try Verifiers.receipts.receipt(base64(ReceiptSamples.signed(content))))" }
        })

    private static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
