import Crypto
import Encodings
import Foundation
import Testing

@testable import AppleTrust

@Suite("What payment tokens are encoded in")
struct ApplePayEncodingTests {
    @Test func `hex and base64 come back as they went`() {
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
            #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
            let hex = Hex.encoded(bytes)
            #expect(Hex.decoded(hex.utf8) == bytes)
            #expect(Hex.decoded(hex.uppercased().utf8) == bytes)
        }
        for text in ["0", "0g", "zz", "é0", " 00", "0x00"] { #expect(Hex.decoded(text.utf8) == nil) }
    }

    @Test(
        arguments: [
            ([0x30, 0], []), ([0x30, 1, 5], [5]), ([0x30, 0x81, 1, 5], [5]), ([0x30, 0x80, 0, 0], []),
            ([0x30, 0x80, 5, 0, 0, 0], [5, 0]), ([0x30, 0x80, 0x24, 0x80, 0, 0, 0, 0], [0x24, 0x80, 0, 0]),
            ([0x30, 0x80, 4, 2, 0, 0, 0, 0], [4, 2, 0, 0]),
            ([], nil), ([0x30], nil), ([0x31, 0], nil), ([0x30, 1], nil), ([0x30, 0, 0], nil), ([0x30, 0x80], nil),
            ([0x30, 0x80, 0], nil), ([0x30, 0x80, 0, 1, 0], nil), ([0x30, 0x80, 0, 0x80, 0, 0], nil),
            ([0x30, 0x80, 4, 0x80, 0, 0, 0, 0], nil), ([0x30, 0x85, 0, 0, 0, 0, 1, 5], nil),
            ([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], nil), ([0x30, 0x80, 0x3F, 1, 0, 0, 0], nil),
            ([UInt8](repeating: 0x30, count: 200), nil),
            (Array([[UInt8]](repeating: [0x30, 0x80], count: 17).joined()) + [UInt8](repeating: 0, count: 34), nil),
        ] as [([UInt8], [UInt8]?)])
    func `one element of BER`(_ bytes: [UInt8], _ contents: [UInt8]?) {
        // A slice of other bytes, whose indices do not begin at 0.
        let slice = ([9, 9, 9] + bytes + [9])[3..<(3 + bytes.count)]
        let element = try? BERCursor.only(0x30, of: slice, "part", in: "test")
        #expect(element.map { Array($0.contents) } == contents)
        #expect(element == nil || element?.whole == slice)
    }

    @Test func `ECDSA signatures have one spelling`() throws {
        let key = P256.Signing.PrivateKey()
        for round in 0..<300 {
            let signature = try key.signature(for: [UInt8(round & 0xFF), UInt8(round >> 8)])
            #expect(
                ECDSASignatureDER.raw(Array(signature.derRepresentation)[...]) == Array(signature.rawRepresentation))
        }
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let high = [UInt8](repeating: 0, count: 31) + [0x80]
        for (der, raw) in [
            ([0x30, 6, 2, 1, 1, 2, 1, 1], one + one), ([0x30, 7, 2, 1, 1, 2, 2, 0, 0x80], one + high),
            ([0x30, 7, 2, 2, 0, 1, 2, 1, 1], nil), ([0x30, 6, 2, 1, 0x80, 2, 1, 1], nil),
            ([0x30, 6, 2, 1, 0, 2, 1, 1], nil), ([0x30, 5, 2, 0, 2, 1, 1], nil), ([0x30, 3, 2, 1, 1], nil),
            ([0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1], nil), ([0x30, 0x81, 6, 2, 1, 1, 2, 1, 1], nil),
            ([0x30, 7, 2, 0x81, 1, 1, 2, 1, 1], nil), ([0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0], nil),
            ([0x30, 38, 2, 33, 1] + [UInt8](repeating: 1, count: 32) + [2, 1, 1], nil), ([], nil),
        ] as [([UInt8], [UInt8]?)] {
            #expect(ECDSASignatureDER.raw(der[...]) == raw, "\(der)")
        }
    }
}
