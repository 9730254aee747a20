import AppleTrust
import Crypto
import Encodings
import Foundation

/// The faults of the three segments and the header.
enum HeaderCases {
    static let all: [SignedTextCase] = algorithms + certificates + others + forms

    static let algorithms: [SignedTextCase] = [
        SignedTextCase("a sound transaction", TestJWS(), nil),
        SignedTextCase(
            "alg none with an empty signature", TestJWS(header: ["alg": "\"none\""], signature: { _ in [] }),
            .unsupportedAlgorithm),
        SignedTextCase(
            "alg none with a good signature", TestJWS(header: ["alg": "\"none\""]), .unsupportedAlgorithm),
        SignedTextCase("alg HS256 keyed with the leaf", hs256, .unsupportedAlgorithm),
        SignedTextCase("alg RS256", TestJWS(header: ["alg": "\"RS256\""]), .unsupportedAlgorithm),
        SignedTextCase("alg ES384", TestJWS(header: ["alg": "\"ES384\""]), .unsupportedAlgorithm),
        SignedTextCase("alg in lower case", TestJWS(header: ["alg": "\"es256\""]), .unsupportedAlgorithm),
        SignedTextCase("alg with a blank", TestJWS(header: ["alg": "\"ES256 \""]), .unsupportedAlgorithm),
        SignedTextCase("alg missing", TestJWS(header: ["alg": nil]), .unsupportedAlgorithm),
        SignedTextCase("alg null", TestJWS(header: ["alg": "null"]), .unsupportedAlgorithm),
        SignedTextCase("alg a number", TestJWS(header: ["alg": "256"]), .unsupportedAlgorithm),
    ]

    private static let chain = TestChain.sound
    private static let foreign = TestChain(root: TestChain.rootRecipe.issue(by: nil))
    private static let (leaf, wwdr, root) = (chain.leaf.base64, chain.intermediate.base64, chain.root.base64)

    static let certificates: [SignedTextCase] = [
        SignedTextCase("x5c missing", TestJWS(header: ["x5c": nil]), .malformed),
        SignedTextCase(
            "the chain under another header name", TestJWS(header: ["x5c": nil, "x5u": "[\"\(leaf)\"]"]), .malformed),
        SignedTextCase("x5c a text", TestJWS(header: ["x5c": "\"\(leaf)\""]), .malformed),
        SignedTextCase(
            "x5c with a number", TestJWS(header: ["x5c": "[\"\(leaf)\",\"\(wwdr)\",1]"]), .malformed,
            difference: .itIsLaxer),
        SignedTextCase("no certificate", TestJWS(x5c: []), .malformed),
        SignedTextCase("one certificate", TestJWS(x5c: [leaf]), .malformed),
        SignedTextCase("two certificates", TestJWS(x5c: [leaf, wwdr]), .malformed),
        SignedTextCase("four certificates", TestJWS(x5c: [leaf, wwdr, root, root]), .malformed),
        SignedTextCase("the leaf twice", TestJWS(x5c: [leaf, leaf, root]), .untrustedChain),
        SignedTextCase("the intermediate twice", TestJWS(x5c: [wwdr, wwdr, root]), .untrustedChain),
        SignedTextCase("leaf and intermediate exchanged", TestJWS(x5c: [wwdr, leaf, root]), .untrustedChain),
        SignedTextCase("the root as intermediate", TestJWS(x5c: [leaf, root, root]), .untrustedChain),
        SignedTextCase("no base64", TestJWS(x5c: ["!" + leaf.dropFirst(), wwdr, root]), .malformed),
        SignedTextCase("base64 with a blank", TestJWS(x5c: [leaf + " ", wwdr, root]), .malformed),
        SignedTextCase("base64 of no certificate", TestJWS(x5c: ["AAAA", wwdr, root]), .malformed),
        SignedTextCase("an empty certificate", TestJWS(x5c: [leaf, "", root]), .malformed),
        SignedTextCase(
            "bytes after the leaf", TestJWS(x5c: [Data(chain.leaf.der + [0]).base64EncodedString(), wwdr, root]),
            .malformed, difference: .itIsLaxer),
        SignedTextCase("a foreign chain with its root", TestJWS(chain: foreign), .untrustedChain),
        SignedTextCase(
            "a foreign leaf and intermediate before our root",
            TestJWS(chain: foreign, x5c: [foreign.leaf.base64, foreign.intermediate.base64, root]), .untrustedChain),
        SignedTextCase(
            "a foreign leaf under our intermediate", TestJWS(chain: foreign, x5c: [foreign.leaf.base64, wwdr, root]),
            .untrustedChain),
        SignedTextCase(
            "another certificate of the root's key as third", TestJWS(x5c: [leaf, wwdr, reissued.base64]), nil),
        SignedTextCase("a foreign root as third", TestJWS(x5c: [leaf, wwdr, foreign.root.base64]), nil),
        SignedTextCase("no certificate as third", TestJWS(x5c: [leaf, wwdr, "-"]), nil),
    ]

    static let others: [SignedTextCase] = [
        SignedTextCase(
            "crit with an unknown extension", TestJWS(header: ["crit": "[\"urn:x\"]", "urn:x": "1"]), .malformed),
        SignedTextCase("an empty crit", TestJWS(header: ["crit": "[]"]), .malformed),
        SignedTextCase(
            "a key in jwk that signed", TestJWS(header: ["jwk": jwk], signer: .p256(stranger)), .badSignature),
        SignedTextCase("a jwk beside a good signature", TestJWS(header: ["jwk": jwk]), nil),
        SignedTextCase(
            "kid, jku and x5u beside a good signature",
            TestJWS(header: [
                "kid": "\"k\"", "jku": "\"https://example.com\"", "x5u": "\"https://example.com\"", "typ": "\"JWT\"",
            ]), nil),
        SignedTextCase(
            "alg twice", TestJWS(headerBytes: twice("alg", "\"ES256\"")), .malformed, difference: .itIsLaxer),
        SignedTextCase(
            "alg twice by an escape", TestJWS(headerBytes: twice("\\u0061lg", "\"ES256\"")), .malformed,
            difference: .itIsLaxer),
        SignedTextCase("x5c twice", TestJWS(headerBytes: twice("x5c", "[]")), .malformed),
        SignedTextCase("the header is a list", TestJWS(headerBytes: Array("[]".utf8)), .malformed),
        SignedTextCase("the header is empty", TestJWS(headerBytes: []), .malformed),
        SignedTextCase("the header is no JSON", TestJWS(headerBytes: Array("{alg:1}".utf8)), .malformed),
        SignedTextCase(
            "the header is no UTF-8", TestJWS(headerBytes: [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]), .malformed),
        SignedTextCase("certificates with escaped solidus", TestJWS(headerBytes: escapedSolidus), nil),
    ]

    static let forms: [SignedTextCase] = {
        let sound = TestJWS().text
        let parts = sound.split(separator: ".").map(String.init)
        return [
            SignedTextCase("nothing", "", .malformed),
            SignedTextCase("a word", "x", .malformed),
            SignedTextCase("two points alone", "..", .malformed),
            SignedTextCase("one segment", parts[0], .malformed),
            SignedTextCase("two segments", "\(parts[0]).\(parts[1])", .malformed),
            SignedTextCase("four segments", sound + ".e30", .malformed),
            SignedTextCase("a point at the end", sound + ".", .malformed),
            SignedTextCase("a blank before", " " + sound, .malformed),
            SignedTextCase("a line feed behind", sound + "\n", .malformed),
            SignedTextCase("padding", padded(sound), .malformed, difference: .itIsLaxer),
            SignedTextCase("trailing bits", trailing(sound), .malformed),
            SignedTextCase("a plus in base64url", "\(parts[0]).\(parts[1])+.\(parts[2])", .malformed),
            SignedTextCase("an empty payload", "\(parts[0])..\(parts[2])", .malformed),
            SignedTextCase("signed JSON serialization", "{\"payload\":\"\(parts[1])\"}", .malformed),
            SignedTextCase("much too long", String(repeating: "A", count: 300_000), .malformed),
            SignedTextCase(
                "too long by one", sound + String(repeating: "A", count: 65_537 - sound.utf8.count), .malformed),
        ]
    }()

    private static let hs256 = TestJWS(header: ["alg": "\"HS256\""]).text.split(separator: ".").prefix(2)
        .joined(separator: ".").withHMAC(TestChain.sound.leaf.der)
    private static let reissued = TestChain.rootRecipe.issue(by: nil, key: chain.root.key)
    private static let stranger = P256.Signing.PrivateKey()
    private static var jwk: String {
        let point = Array(stranger.publicKey.rawRepresentation)
        let (x, y) = (Base64URL.encoded(Array(point[..<32])), Base64URL.encoded(Array(point[32...])))
        return "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"\(x)\",\"y\":\"\(y)\"}"
    }
    private static func twice(_ name: String, _ value: String) -> [UInt8] {
        Array("{\"alg\":\"ES256\",\"x5c\":[\"\(leaf)\",\"\(wwdr)\",\"\(root)\"],\"\(name)\":\(value)}".utf8)
    }
    private static var escapedSolidus: [UInt8] {
        let list = chain.x5c.map { "\"\($0.replacing("/", with: "\\/"))\"" }.joined(separator: ",")
        return Array("{ \"alg\" : \"ES256\" ,\n\"x5c\" : [\(list)] }".utf8)
    }
    /// The signature has 64 bytes, so that two characters of padding are missing.
    private static func padded(_ sound: String) -> String { sound + "==" }
    /// The signature's last character has four bits that mean nothing.
    private static func trailing(_ sound: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        guard let last = sound.last, let value = alphabet.firstIndex(of: last) else { return "" }
        return String(sound.dropLast()) + String(alphabet[value | 1])
    }
}

extension String {
    /// This signing input with a signature that is its HMAC (RFC 7518 section 3.2).
    fileprivate func withHMAC(_ key: [UInt8]) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data(utf8), using: SymmetricKey(data: key))
        return self + "." + Base64URL.encoded(Array(code))
    }
}
