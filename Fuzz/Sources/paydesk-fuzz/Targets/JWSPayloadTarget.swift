import AppleTrust
import Crypto
import Foundation

/// The payload is hostile, and signed by the true keys: this reaches whatever is read behind the signature.
///
/// The first byte chooses who signs and who reads; most go by Xcode's unchecked way, which costs no signature.
struct JWSPayloadTarget: FuzzTarget {
    let name = "jws-payload"

    var seeds: [[UInt8]] {
        Reader.seeds(way: 0, Payloads.all) + [1, 2].flatMap { Reader.seeds(way: $0, Payloads.xcode) }
    }

    var words: [String] { Payloads.words }

    func run(_ input: [UInt8]) -> Bool {
        let mode = input.first ?? 0
        let payload = Array(input.dropFirst())
        let segment = JWSSamples.base64URL(payload)
        let reader = Reader(of: mode)
        let sparing = reader.sparing(payload)
        switch mode % 4 {
        case 0: return check(JWSSamples.signed(Self.apple, segment, by: Keys.leaf), Verifiers.store, sparing, payload)
        case 1: return check(JWSSamples.signed(Self.xcode, segment, by: Keys.xcode), Verifiers.signed, sparing, payload)
        default: return check("\(Self.unchecked).\(segment).AA", Verifiers.unchecked, reader, payload)
        }
    }

    private static let apple = JWSSamples.base64URL(JWSSamples.appleHeader)
    private static let xcode = JWSSamples.base64URL(JWSSamples.xcodeHeader)
    private static let unchecked = JWSSamples.base64URL(JWSSamples.header([JWSSamples.unread]))

    private func check(_ text: String, _ verifier: AppleVerifier, _ reader: Reader, _ payload: [UInt8]) -> Bool {
        let verdict = Verdict(text, verifier, reader)
        guard let json = verdict.json else { return false }
        Harness.expect(json == payload, "accepted other bytes than were signed")
        if let transaction = verdict.transaction { compare(transaction, payload) }
        return true
    }

    /// An accepted transaction says what another reader of JSON finds in it.
    private func compare(_ transaction: VerifiedTransaction, _ payload: [UInt8]) {
        guard let read = try? JSONDecoder().decode(Transaction.self, from: Data(payload)) else {
            Harness.finding("accepted a payload that another reader refuses")
        }
        Harness.expect(transaction.bundleID == Verifiers.bundleID, "accepted the app \(transaction.bundleID)")
        Harness.expect(
            transaction.transactionID == read.transactionId && transaction.bundleID == read.bundleId
                && transaction.originalTransactionID == read.originalTransactionId
                && transaction.productID == read.productId && transaction.type.rawValue == read.type
                && transaction.currency == read.currency
                && transaction.appAccountToken == read.appAccountToken?.lowercased()
                && transaction.isUpgraded == read.isUpgraded ?? false
                && transaction.environment == AppleEnvironment(appleName: read.environment),
            "a field is read as something else")
        Harness.expect((1...Int64(Int32.max)).contains(transaction.quantity), "quantity \(transaction.quantity)")
        Harness.expect(transaction.signedDate > 0 && transaction.price ?? 0 >= 0, "a number out of its range")
        Harness.expect(transaction.signer == .apple || transaction.environment == .xcode, "Xcode signs for the store")
    }

    private struct Transaction: Decodable {
        let transactionId: String
        let originalTransactionId: String
        let bundleId: String
        let productId: String
        let type: String
        let currency: String?
        let environment: String
        let appAccountToken: String?
        let isUpgraded: Bool?
    }
}
