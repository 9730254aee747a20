import Encodings
import Foundation
import Testing

/// Hexadecimal digits, base64url, percent-encoding and the classes of ASCII.
struct EncodedTextTests {
    private static let all = (0...255).map { UInt8($0) }

    @Test func `hex writes every byte as two digits and reads them back`() {
        let text = Hex.encoded(Self.all)
        #expect(text.utf8.count == 512 && text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(Hex.encoded(Self.all, .upper) == text.uppercased() && Hex.encoded([]) == "")
        for letters in [nil, .lower] as [Hex.Letters?] { #expect(Hex.decoded(text, count: 256, letters) == Self.all) }
        #expect(Hex.decoded("aBcD", count: 2) == [0xAB, 0xCD])
        #expect(Hex.decoded("", count: 0) == [])
    }

    @Test func `hex of any length has an even number of digits and a limit`() {
        #expect(Hex.decoded("0aFF".utf8) == [0x0A, 0xFF] && Hex.decoded("".utf8) == [])
        for text in ["0", "0g", "zz", "é0", " 00", "0x00"] { #expect(Hex.decoded(text.utf8) == nil, "\(text)") }
        #expect(Hex.decoded("0a0b".utf8, limit: 2) != nil && Hex.decoded("0a0b".utf8, limit: 1) == nil)
    }

    @Test(arguments: ["0", "00", "0000", "00000g", "0x0000", "00000\u{661}", "0000 0", "+10000", "00000"])
    func `hex takes exactly the digits that it is to have`(_ text: String) {
        #expect(Hex.decoded(text, count: 3) == nil)
    }

    @Test func `hex of one case refuses the other`() {
        #expect(Hex.decoded("0A", count: 1, .lower) == nil && Hex.decoded("0a", count: 1, .upper) == nil)
        #expect(Self.all.compactMap { Hex.value($0) }.count == 22)
    }

    /// RFC 4648 section 10, without padding, and the letters that differ.
    @Test(
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"), ("??>>", "Pz8-Pg"), ("???", "Pz8_"),
        ] as [(String, String)])
    func `base64url both ways`(_ plain: String, _ text: String) {
        #expect(Base64URL.encoded(Array(plain.utf8)) == text)
        #expect(Base64URL.decoded(text) == Array(plain.utf8))
    }

    @Test func `base64url refuses another form and too much of it`() {
        for text in ["Z", "Zg=", "=", "====", "Zg==Zg==", "Zm9v Yg", "Zm9é", "Zm9v\n"] {
            #expect(Base64URL.decoded(text) == nil, "\(text)")
        }
        // The letters and the padding of plain base64 are taken, and bits behind the last byte.
        #expect(Base64URL.decoded("Pz8/") == Array("???".utf8))
        #expect(Base64URL.decoded("Zg==") == Array("f".utf8) && Base64URL.decoded("Zh") == Array("f".utf8))
        #expect(Base64URL.decoded("Zm9v", limit: 4) != nil && Base64URL.decoded("Zm9v", limit: 3) == nil)
    }

    @Test func `percent-encoding leaves what is unreserved and escapes every other byte`() {
        let kept = "ABCXYZabcxyz0189-._~"
        #expect(PercentEncoding.encoded(kept) == kept)
        #expect(PercentEncoding.encoded("a b+/?é爱") == "a%20b%2B%2F%3F%C3%A9%E7%88%B1")
        #expect(PercentEncoding.decoded("a%20b%2B+%e7".utf8, readsPlus: true) == Array("a b+ ".utf8) + [0xE7])
        #expect(PercentEncoding.decoded("a+b".utf8, readsPlus: false) == Array("a+b".utf8))
        #expect(
            PercentEncoding.text("a%C3%A9+b", readsPlus: true) == "aé b"
                && PercentEncoding.text("", readsPlus: true) == "")
        for text in ["%C3", "%FF", "%"] { #expect(PercentEncoding.text(text, readsPlus: false) == nil, "\(text)") }
        for text in ["%", "%2", "%2g", "%%20", "% 20"] {
            #expect(PercentEncoding.decoded(text.utf8, readsPlus: true) == nil, "\(text)")
        }
    }

    @Test func `the classes of ASCII hold exactly their characters`() {
        func members(_ test: (UInt8) -> Bool) -> String { String(decoding: Self.all.filter(test), as: UTF8.self) }
        let (small, digits) = ("abcdefghijklmnopqrstuvwxyz", "0123456789")
        #expect(members(\.isDigit) == digits && members(\.isSmallLetter) == small)
        #expect(members(\.isCapital) == small.uppercased() && members(\.isLetter) == small.uppercased() + small)
        #expect(members(\.isLetterOrDigit) == digits + small.uppercased() + small)
        #expect(members(\.isWord) == digits + small.uppercased() + "_" + small)
        #expect(members(\.isURLUnreserved) == "-." + digits + small.uppercased() + "_" + small + "~")
        #expect(members(\.isVisible).utf8.count == 94)
    }

    @Test func `a word has its length in bytes`() {
        #expect("A_9".isWord(1...3) && !"A_9x".isWord(1...3) && !"".isWord(1...3) && !"é".isWord(1...3))
        #expect("a-b".isWord(1...3, or: "-.") && !"a-b".isWord(1...3, or: ".") && "007".isDigits(3...3))
        #expect(!"٣".isDigits(1...9) && !"-1".isDigits(1...9))
    }
}
