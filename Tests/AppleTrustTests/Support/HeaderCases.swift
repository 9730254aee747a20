import AppleTrust
import Crypto
import Encodings
import Foundation

/// The faults of the three segments and the header.
enum HeaderCases {
    static let all: [MintCase] = algorithms + certificates + others + forms

    static let algorithms: [MintCase] = [
        MintCase("a sound transaction", MintJWS(), nil),
        MintCase(
            "alg none with an empty signature", MintJWS(header: ["alg": "\"none\""], signature: { _ in [] }),
            .unsupportedAlgorithm),
        MintCase(
            "alg none with a good signature", MintJWS(header: ["alg": "\"none\""]), .unsupportedAlgorithm),
        MintCase("alg HS256 keyed with the leaf", hs256, .unsupportedAlgorithm),
        MintCase("alg RS256", MintJWS(header: ["alg": "\"RS256\""]), .unsupportedAlgorithm),
        MintCase("alg ES384", MintJWS(header: ["alg": "\"ES384\""]), .unsupportedAlgorithm),
        MintCase("alg in lower case", MintJWS(header: ["alg": "\"es256\""]), .unsupportedAlgorithm),
        MintCase("alg with a blank", MintJWS(header: ["alg": "\"ES256 \""]), .unsupportedAlgorithm),
        MintCase("alg missing", MintJWS(header: ["alg": nil]), .unsupportedAlgorithm),
        MintCase("alg null", MintJWS(header: ["alg": "null"]), .unsupportedAlgorithm),
        MintCase("alg a number", MintJWS(header: ["alg": "256"]), .unsupportedAlgorithm),
    ]

    private static let chain = MintChain.sound
    private static let foreign = MintChain(root: MintChain.rootRecipe.issue(by: nil))
    private static let (leaf, wwdr, root) = (chain.leaf.base64, chain.intermediate.base64, chain.root.base64)

    static let certificates: [MintCase] = [
        MintCase("x5c missing", MintJWS(header: ["x5c": nil]), .malformed),
        MintCase(
            "the chain under another header name", MintJWS(header: ["x5c": nil, "x5u": "[\"\(leaf)\"]"]), .malformed),
        MintCase("x5c a text", MintJWS(header: ["x5c": "\"\(leaf)\""]), .malformed),
        MintCase(
            "x5c with a number", MintJWS(header: ["x5c": "[\"\(leaf)\",\"\(wwdr)\",1]"]), .malformed,
            difference: .itIsLaxer),
        MintCase("no certificate", MintJWS(x5c: []), .malformed),
        MintCase("one certificate", MintJWS(x5c: [leaf]), .malformed),
        MintCase("two certificates", MintJWS(x5c: [leaf, wwdr]), .malformed),
        MintCase("four certificates", MintJWS(x5c: [leaf, wwdr, root, root]), .malformed),
        MintCase("the leaf twice", MintJWS(x5c: [leaf, leaf, root]), .untrustedChain),
        MintCase("the intermediate twice", MintJWS(x5c: [wwdr, wwdr, root]), .untrustedChain),
        MintCase("leaf and intermediate exchanged", MintJWS(x5c: [wwdr, leaf, root]), .untrustedChain),
        MintCase("the root as intermediate", MintJWS(x5c: [leaf, root, root]), .untrustedChain),
        MintCase("no base64", MintJWS(x5c: ["!" + leaf.dropFirst(), wwdr, root]), .malformed),
        MintCase("base64 with a blank", MintJWS(x5c: [leaf + " ", wwdr, root]), .malformed),
        MintCase("base64 of no certificate", MintJWS(x5c: ["AAAA", wwdr, root]), .malformed),
        MintCase("an empty certificate", MintJWS(x5c: [leaf, "", root]), .malformed),
        MintCase(
            "bytes after the leaf", MintJWS(x5c: [Data(chain.leaf.der + [0]).base64EncodedString(), wwdr, root]),
            .malformed, difference: .itIsLaxer),
        MintCase("a foreign chain with its root", MintJWS(chain: foreign), .untrustedChain),
        MintCase(
            "a foreign leaf and intermediate before our root",
            MintJWS(chain: foreign, x5c: [foreign.leaf.base64, foreign.intermediate.base64, root]), .untrustedChain),
        MintCase(
            "a foreign leaf under our intermediate", MintJWS(chain: foreign, x5c: [foreign.leaf.base64, wwdr, root]),
            .untrustedChain),
        MintCase("another certificate of the root's key as third", MintJWS(x5c: [leaf, wwdr, reissued.base64]), nil),
        MintCase("a foreign root as third", MintJWS(x5c: [leaf, wwdr, foreign.root.base64]), nil),
        MintCase("no certificate as third", MintJWS(x5c: [leaf, wwdr, "-"]), nil),
    ]

    static let others: [MintCase] = [
        MintCase("crit with an unknown extension", MintJWS(header: ["crit": "[\"urn:x\"]", "urn:x": "1"]), .malformed),
        MintCase("an empty crit", MintJWS(header: ["crit": "[]"]), .malformed),
        MintCase("a key in jwk that signed", MintJWS(header: ["jwk": jwk], signer: .p256(stranger)), .badSignature),
        MintCase("a jwk beside a good signature", MintJWS(header: ["jwk": jwk]), nil),
        MintCase(
            "kid, jku and x5u beside a good signature",
            MintJWS(header: [
                "kid": "\"k\"", "jku": "\"https://example.com\"", "x5u": "\"https://example.com\"", "typ": "\"JWT\"",
            ]), nil),
        MintCase("alg twice", MintJWS(headerBytes: twice("alg", "\"ES256\"")), .malformed, difference: .itIsLaxer),
        MintCase(
            "alg twice by an escape", MintJWS(headerBytes: twice("\\u0061lg", "\"ES256\"")), .malformed,
            difference: .itIsLaxer),
        MintCase("x5c twice", MintJWS(headerBytes: twice("x5c", "[]")), .malformed),
        MintCase("the header is a list", MintJWS(headerBytes: Array("[]".utf8)), .malformed),
        MintCase("the header is empty", MintJWS(headerBytes: []), .malformed),
        MintCase("the header is no JSON", MintJWS(headerBytes: Array("{alg:1}".utf8)), .malformed),
        MintCase(
            "the header is no UTF-8", MintJWS(headerBytes: [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]), .malformed),
        MintCase("certificates with escaped solidus", MintJWS(headerBytes: escapedSolidus), nil),
    ]

    static let forms: [MintCase] = {
        let sound = MintJWS().text
        let parts = sound.split(separator: ".").map(String.init)
        return [
            MintCase("nothing", "", .malformed),
            MintCase("a word", "x", .malformed),
            MintCase("two points alone", "..", .malformed),
            MintCase("one segment", parts[0], .malformed),
            MintCase("two segments", "\(parts[0]).\(parts[1])", .malformed),
            MintCase("four segments", sound + ".e30", .malformed),
            MintCase("a point at the end", sound + ".", .malformed),
            MintCase("a blank before", " " + sound, .malformed),
            MintCase("a line feed behind", sound + "\n", .malformed),
            MintCase("padding", padded(sound), .malformed, difference: .itIsLaxer),
            MintCase("trailing bits", trailing(sound), .malformed),
            MintCase("a plus in base64url", "\(parts[0]).\(parts[1])+.\(parts[2])", .malformed),
            MintCase("an empty payload", "\(parts[0])..\(parts[2])", .malformed),
            MintCase("signed JSON serialization", "{\"payload\":\"\(parts[1])\"}", .malformed),
            MintCase("much too long", String(repeating: "A", count: 300_000), .malformed),
            MintCase("too long by one", sound + String(repeating: "A", count: 65_537 - sound.utf8.count), .malformed),
        ]
    }()

    private static let hs256 = MintJWS(header: ["alg": "\"HS256\""]).text.split(separator: ".").prefix(2)
        .joined(separator: ".").withHMAC(MintChain.sound.leaf.der)
    private static let reissued = MintChain.rootRecipe.issue(by: nil, key: chain.root.key)
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
