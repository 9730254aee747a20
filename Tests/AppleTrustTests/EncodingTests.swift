import Encodings
import Foundation
import Testing

@testable import AppleTrust

@Suite("Strict base64 and JSON")
struct EncodingTests {
    private func url(_ text: String) -> [UInt8]? { Base64.decodeURL(Array(text.utf8)[...]) }
    private func standard(_ text: String) -> [UInt8]? { Base64.decodeStandard(Array(text.utf8)[...]) }
    private func json(_ text: String) -> JSONDocument? { try? JSONDocument(Array(text.utf8)) }

    @Test func `every byte string has exactly one spelling`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
            let text = Data(bytes).base64EncodedString()
            #expect(standard(text) == bytes)
            #expect(url(Base64URL.encoded(bytes)) == bytes)
        }
    }

    @Test(arguments: [
        "A", "AAAAA", "AA==", "AAA=", "AB", "AAB", "AA A", "AA\n", "AA+A", "AA/A", "AAé", "====", "A===", ".", "AAAA=",
    ])
    func `other base64url is refused`(_ text: String) { #expect(url(text) == nil) }

    @Test(arguments: [
        "A", "AA", "AAA", "AAAAA", "AB==", "AAB=", "A===", "====", "AA=A", "=AAA", "AA-A", "AA_A", "AAAA\n", " AAAA",
        "AA==AAAA", "AAAA====",
    ])
    func `other base64 is refused`(_ text: String) { #expect(standard(text) == nil) }

    @Test(arguments: [
        "{}", " { } ", "{\"a\":[1,-0,0.5,1e9,1E-9,2.5e+3,true,false,null,\"\",{}]}",
        "{\"\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"}",
        "{\"a\":{\"a\":1},\"b\":{\"a\":1}}", "{\"a\":\"\\ud83d\\ude00\"}", "{\"é\":\"é\"}",
    ])
    func `strict JSON objects are read`(_ text: String) { #expect(json(text) != nil) }

    @Test(arguments: [
        "", " ", "null", "[]", "1", "{", "}", "{]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}",
        "{\"a\":1}}",
        "{\"a\":1}{}", "{\"a\":01}", "{\"a\":-}", "{\"a\":1.}", "{\"a\":.1}", "{\"a\":1e}", "{\"a\":+1}", "{\"a\":0x1}",
        "{\"a\":tru}", "{\"a\":True}", "{\"a\":nan}", "{\"a\":\"}", "{\"a\":\"\\\"}", "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\u12G4\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\"}", "{\"a\":\"\\ud800\\u0041\"}",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\u{1}\"}", "{\"a\":\"\n\"}", "{\"a\":[1,]}", "{\"a\":[,]}", "{\"a\":[1 2]}", "{\"a\":1,\"a\":1}",
        "{\"a\":1,\"\\u0061\":1}", "{\"a\":[{\"b\":1,\"b\":2}]}", "\u{FEFF}{}",
    ])
    func `anything else is refused`(_ text: String) { #expect(json(text) == nil) }

    /// The parser reads strings eight bytes at a time.
    @Test(arguments: 0..<20)
    func `a string ends at its quote, wherever that stands`(_ length: Int) throws {
        let plain: [UInt8] = (0..<length).map { [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F][$0 % 6] }
        let inner: [([UInt8], Bool)] = [
            (plain, true), (plain + Array("é😀".utf8) + plain, true), (plain + Array("\\n".utf8) + plain, true),
            (plain + Array("\\".utf8), false), (plain + [0x1F] + plain, false), (plain + [0x00], false),
            (plain + [0x80] + plain, false), (plain + Array("\"".utf8) + plain + [0x61], false),
        ]
        for (bytes, isSound) in inner {
            let text = try? JSONDocument(Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8))
            #expect((text != nil) == isSound, "\(bytes)")
            guard let text, let node = text.root["a"] else { continue }
            let expected = String(decoding: bytes, as: UTF8.self).replacing("\\n", with: "\n")
            #expect(text.string(node) == expected)
        }
    }

    @Test func `depth, members and values are bounded`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)
        }
        func wide(_ count: Int) -> String { "{\((0..<count).map { "\"m\($0)\":0" }.joined(separator: ","))}" }
        func long(_ count: Int) -> String { "{\"a\":[\(Array(repeating: "0", count: count).joined(separator: ","))]}" }
        #expect(json(nested(16)) != nil && json(nested(17)) == nil && json(nested(30_000)) == nil)
        #expect(json(String(repeating: "{\"a\":[", count: 30_000)) == nil)
        #expect(json(wide(128)) != nil && json(wide(129)) == nil)
        #expect(json(long(2_047)) != nil && json(long(2_048)) == nil)
    }

    @Test(
        arguments: [
            ("0", 0, 0), ("-0", 0, 0), ("12", 12, 12), ("-12", -12, -12), ("1.0", 1, 1), ("1.5", 1, nil),
            ("-1.5", -2, nil),
            ("9223372036854775807", Int64.max, Int64.max), ("-9223372036854775808", Int64.min, Int64.min),
            ("9223372036854775808", nil, nil), ("-9223372036854775808.5", nil, nil), ("1e3", 1_000, nil),
            ("1e19", nil, nil),
            ("-1e-3", -1, nil), ("1e999", nil, nil),
        ] as [(String, Int64?, Int64?)])
    func `numbers are floored or exact`(_ text: String, _ floored: Int64?, _ exact: Int64?) throws {
        let object = try #require(json("{\"n\":\(text)}"))
        let node = try #require(object.root["n"])
        #expect(object.flooredInteger(node) == floored)
        #expect(object.integer(node) == exact)
    }
}
