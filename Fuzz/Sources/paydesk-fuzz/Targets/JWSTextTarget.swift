import AppleTrust
import Crypto

/// The whole compact JWS is hostile: nothing but what was minted here may be accepted.
struct JWSTextTarget: FuzzTarget {
    let name = "jws-text"

    var seeds: [[UInt8]] {
        let apple = Payloads.all.map { JWSMint.signed(JWSMint.appleHeader, $0, by: Keys.leaf) }
        let xcode = Payloads.xcode.map { JWSMint.signed(JWSMint.xcodeHeader, $0, by: Keys.xcode) }
        let forged = [
            JWSMint.signed(JWSMint.appleHeader, Payloads.all[0], by: Keys.xcode),
            JWSMint.unsigned(JWSMint.appleHeader, Payloads.all[0]), JWSMint.unsigned([], []), "..", "e30.e30.",
        ]
        return (apple + xcode + forged).map { Array($0.utf8) }
    }

    var words: [String] {
        [".", "..", "e30", "=", "-", "_", "eyJ", "AAAA", JWSMint.base64URL(Array("{\"alg\":\"ES256\"".utf8))]
    }

    func run(_ input: [UInt8]) -> Bool {
        let text = String(decoding: input, as: UTF8.self)
        let verdict = Verdict(text, Verifiers.signed, .explained)
        guard let json = verdict.json else { return false }
        let key = verdict.signer == .apple ? Keys.leaf.publicKey : Keys.xcode.publicKey
        Harness.expect(JWSMint.isSigned(text, by: key), "accepted, and nobody signed it")
        Harness.expect((Payloads.all + Payloads.xcode).contains(json), "accepted, and nobody minted this payload")
        return true
    }
}
