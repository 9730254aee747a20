import AppleTrust
import Crypto

/// The whole compact JWS is hostile: nothing but what was minted here may be accepted.
struct JWSTextTarget: FuzzTarget {
    let name = "jws-text"

    var seeds: [[UInt8]] {
        let apple = Payloads.all.map { JWSSamples.signed(JWSSamples.appleHeader, $0, by: Keys.leaf) }
        let xcode = Payloads.xcode.map { JWSSamples.signed(JWSSamples.xcodeHeader, $0, by: Keys.xcode) }
        let forged = [
            JWSSamples.signed(JWSSamples.appleHeader, Payloads.all[0], by: Keys.xcode),
            JWSSamples.unsigned(JWSSamples.appleHeader, Payloads.all[0]), JWSSamples.unsigned([], []), "..", "e30.e30.",
        ]
        return (apple + xcode + forged).map { Array($0.utf8) }
    }

    var words: [String] {
        [".", "..", "e30", "=", "-", "_", "eyJ", "AAAA", JWSSamples.base64URL(Array("{\"alg\":\"ES256\"".utf8))]
    }

    func run(_ input: [UInt8]) -> Bool {
        let text = String(decoding: input, as: UTF8.self)
        let verdict = Verdict(text, Verifiers.signed, .explained)
        guard let json = verdict.json else { return false }
        let key = verdict.signer == .apple ? Keys.leaf.publicKey : Keys.xcode.publicKey
        Harness.expect(JWSSamples.isSigned(text, by: key), "accepted, and nobody signed it")
        Harness.expect((Payloads.all + Payloads.xcode).contains(json), "accepted, and nobody minted this payload")
        return true
    }
}
