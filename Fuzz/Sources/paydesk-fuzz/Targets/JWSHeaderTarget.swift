import AppleTrust
import Crypto
import Foundation

/// The header is hostile, and signed by the true keys over a sound payload.
///
/// The first byte chooses who signs and who reads. So that inputs stay short, `@L`, `@I`, `@R` and `@X` stand for
/// certificates.
struct JWSHeaderTarget: FuzzTarget {
    let name = "jws-header"

    var seeds: [[UInt8]] {
        let chain = "\"x5c\":[\"@L\",\"@I\",\"@R\"]"
        let apple = [
            "{\"alg\":\"ES256\",\(chain)}", "{\"alg\":\"ES256\",\"kid\":\"1\",\"typ\":\"JWT\",\(chain)}",
            "{\(chain),\"alg\":\"\\u0045S256\"}", "{\"alg\":\"none\",\(chain)}", "{\"alg\":\"HS256\",\(chain)}",
            "{\"alg\":\"ES256\",\"crit\":[\"b64\"],\"b64\":false,\(chain)}",
            "{\"alg\":\"ES256\",\"x5c\":[\"@L\",\"@I\"]}", "{\"alg\":\"ES256\",\"x5c\":[\"@I\",\"@L\",\"@R\"]}",
            "{\"alg\":\"ES256\",\"jwk\":{\"kty\":\"EC\",\"crv\":\"P-256\"}}",
        ]
        let xcode = ["{\"alg\":\"ES256\",\"kid\":\"Apple_Xcode_Key\",\"typ\":\"JWT\",\"x5c\":[\"@X\"]}"]
        return Reader.seeds(way: 0, apple.map { Array($0.utf8) })
            + [1, 2].flatMap { Reader.seeds(way: $0, xcode.map { Array($0.utf8) }) }
    }

    var words: [String] {
        [
            "@L", "@I", "@R", "@X", "\"alg\"", "\"x5c\"", "\"crit\"", "\"ES256\"", "\"none\"", "\"kid\"", "\"jwk\"",
            "null", "[]", "{}", "\"\"", "\\/", "\\u0000", "\\ud800", ",",
        ]
    }

    func run(_ input: [UInt8]) -> Bool {
        let mode = input.first ?? 0
        let header = Self.expanded(input.dropFirst())
        let segment = JWSSamples.base64URL(header)
        switch mode % 4 {
        case 0: return check(JWSSamples.signed(segment, Self.store, by: Keys.leaf), Verifiers.store, mode, header)
        case 1: return check(JWSSamples.signed(segment, Self.xcode, by: Keys.xcode), Verifiers.signed, mode, header)
        default: return check("\(segment).\(Self.xcode).AA", Verifiers.unchecked, mode, header)
        }
    }

    /// An accepted header says what another reader of JSON finds in it.
    private func check(_ text: String, _ verifier: AppleVerifier, _ mode: UInt8, _ header: [UInt8]) -> Bool {
        guard let signer = Verdict(text, verifier, Reader(of: mode).sparing(header)).signer else { return false }
        guard let read = try? JSONDecoder().decode(Header.self, from: Data(header)) else {
            Harness.finding("accepted a header that is no JSON, or has no alg and x5c")
        }
        Harness.expect(read.alg == "ES256", "accepted alg \(read.alg)")
        Harness.expect(read.crit == nil, "accepted crit")
        let certificates = read.x5c.map { Data(base64Encoded: $0).map(Array.init) }
        switch signer {
        case .apple:
            Harness.expect(
                certificates.count == 3 && certificates[0] == Certificates.leaf
                    && certificates[1] == Certificates.intermediate, "accepted another chain")
        case .xcodeCertificate: Harness.expect(certificates == [Certificates.xcode], "accepted another certificate")
        case .xcodeUnchecked: Harness.expect(certificates.count == 1, "accepted \(certificates.count) certificates")
        }
        return true
    }

    private struct Header: Decodable {
        let alg: String
        let x5c: [String]
        let crit: [String]?
    }

    private static func expanded(_ input: ArraySlice<UInt8>) -> [UInt8] {
        var header: [UInt8] = []
        var rest = input
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "@"), let name = rest.first, let certificate = certificates[name] {
                rest.removeFirst()
                header += certificate
            } else {
                header.append(byte)
            }
        }
        return header
    }

    private static let store = JWSSamples.base64URL(Array(Payloads.short.utf8))
    private static let xcode = JWSSamples.base64URL(Payloads.xcode[1])

    private static let certificates: [UInt8: [UInt8]] = [
        UInt8(ascii: "L"): base64(Certificates.leaf), UInt8(ascii: "I"): base64(Certificates.intermediate),
        UInt8(ascii: "R"): base64(Certificates.root), UInt8(ascii: "X"): base64(Certificates.xcode),
    ]

    private static func base64(_ der: [UInt8]) -> [UInt8] { Array(Data(der).base64EncodedString().utf8) }
}
