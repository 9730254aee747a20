import AppleTrust
import Foundation
import TestSupport
import Testing

@Suite("Nothing changed in a payment token is ever believed, and nothing at all can trap")
struct ApplePayMutationTests {
    /// The signature of a token, and the token around another one.
    private struct Parts {
        let signature: [UInt8]
        let token: ([UInt8]) -> [UInt8]

        init(_ version: ApplePayRecipe.Version, _ variant: ApplePayVariant? = nil) throws {
            let text = String(decoding: ApplePayTokenFixture.token(version, variant), as: UTF8.self)
            let match = try #require(text.firstMatch(of: /"signature":"([^"]+)"/))
            signature = Array(try #require(Data(base64Encoded: String(match.output.1))))
            let (before, after) = (text[..<match.output.1.startIndex], text[match.output.1.endIndex...])
            token = { Array("\(before)\(Data($0).base64EncodedString())\(after)".utf8) }
        }
    }

    @Test(
        arguments: [
            (ApplePayRecipe.Version.ec, nil), (.ec, .derEncoding), (.rsa, nil), (.ec, .digestWithoutParameters),
        ] as [(ApplePayRecipe.Version, ApplePayVariant?)])
    func `every byte of a signature counts`(_ version: ApplePayRecipe.Version, _ variant: ApplePayVariant?) throws {
        let parts = try Parts(version, variant)
        #expect(ApplePayTokenFixture.reason(parts.token(parts.signature)) == nil)
        for index in parts.signature.indices {
            for mask in [1 << UInt8(index % 8), 0xFF] as [UInt8] {
                var flipped = parts.signature
                flipped[index] ^= mask
                #expect(ApplePayTokenFixture.reason(parts.token(flipped)) != nil, "byte \(index) by \(mask)")
            }
        }
    }

    @Test func `a signature that is cut off or goes on is refused`() throws {
        let parts = try Parts(.ec)
        for count in parts.signature.indices {
            #expect(ApplePayTokenFixture.reason(parts.token(Array(parts.signature[..<count]))) == "malformed")
        }
        for tail in [[0], [0, 0], [5, 0], parts.signature] as [[UInt8]] {
            #expect(ApplePayTokenFixture.reason(parts.token(parts.signature + tail)) == "malformed")
        }
    }

    /// The unsigned parts are the display data, white space, the key's name and the case of digits.
    @Test func `every byte of a token counts, but what nobody signed`() throws {
        let json = ApplePayTokenFixture.token()
        let signed = try ApplePayToken(json)
        let expected = try ApplePayTokenFixture.verifier.verify(
            signed, applicationData: ApplePayTokenFixture.applicationData, at: ApplePayTokenFixture.now)
        for index in json.indices {
            var flipped = json
            flipped[index] ^= 1 << UInt8(index % 7)
            guard let token = try? ApplePayToken(flipped),
                let verified = try? ApplePayTokenFixture.verifier.verify(
                    token, applicationData: ApplePayTokenFixture.applicationData, at: ApplePayTokenFixture.now)
            else { continue }
            #expect(verified.transactionID == expected.transactionID && verified.signedAt == expected.signedAt)
            #expect(
                Self.signedFields(token) == Self.signedFields(signed),
                "byte \(index): \(Character(UnicodeScalar(json[index])))")
        }
    }

    private static func signedFields(_ token: ApplePayToken) -> [String] {
        guard let object = try? JSONSerialization.jsonObject(with: Data(token.paymentData)) as? [String: Any],
            let header = object["header"] as? [String: Any]
        else { return [] }
        let texts = [object["data"], object["version"], header["ephemeralPublicKey"]].map { $0 as? String ?? "-" }
        return texts
            + [header["transactionId"], header["applicationData"]].map { ($0 as? String ?? "-").lowercased() }
    }

    @Test func `mutated tokens are explained as they are verified`() {
        var random = MutationTests.Sequence(state: 11)
        let seeds = ApplePayVariantTests.Case.all.map { ApplePayTokenFixture.token($0.version, $0.variant) }
        for round in 0..<(seeds.count * 4) {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<(round < seeds.count ? 0 : Int.random(in: 1...3, using: &random)) where !bytes.isEmpty {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0..<128, using: &random)
                case 1: bytes.removeSubrange(index..<min(index + 40, bytes.count))
                case 2: bytes.insert(contentsOf: bytes[index..<min(index + 40, bytes.count)], at: index)
                default: bytes[index] = Array("ABZaz09+/=\"{}[],:".utf8).randomElement(using: &random) ?? 0
                }
            }
            Self.expectAgreement(bytes)
        }
    }

    static func expectAgreement(_ json: [UInt8]) {
        let explanation = ApplePayTokenFixture.verifier.explain(
            String(decoding: json, as: UTF8.self), at: ApplePayTokenFixture.now)
        var refusal: ApplePayRefusal?
        do throws(ApplePayRefusal) {
            _ = try ApplePayTokenFixture.verifier.verify(
                try ApplePayToken(json), applicationData: ApplePayTokenFixture.applicationData,
                at: ApplePayTokenFixture.now)
        } catch {
            refusal = error
        }
        // The explainer knows no order.
        if refusal?.reason != .applicationDataMismatch {
            #expect(explanation.refusal?.reason == refusal?.reason, "\(refusal?.detail ?? "")")
        }
        #expect(explanation.checks.map(\.name) == ApplePayCheck.Name.allCases)
        #expect(explanation.token.count <= 12 && explanation.certificates.count <= 3)
        for fact in explanation.token { #expect(fact.name.count <= 201 && fact.value.count <= 201) }
    }
}
