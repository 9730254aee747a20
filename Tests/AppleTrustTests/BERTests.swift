import SwiftASN1
import Testing

@testable import AppleTrust

@Suite("BER within bounds")
struct BERTests {
    private static let limits = BERLimits(bytes: 4_096, depth: 8, elements: 100)

    private func isRead(_ bytes: [UInt8], _ limits: BERLimits = Self.limits) -> Bool {
        // Not from index 0, as a slice of a message is.
        let slice = ([0xAA, 0xBB] + bytes + [0xCC]).dropFirst(2).dropLast()
        var outline = BEROutline(slice, limits)
        let isBounded = (try? outline.check()) != nil
        let isRead = (try? BERReader.read(slice, within: limits)) != nil
        #expect(isBounded || !isRead)
        return isRead
    }

    @Test(
        arguments: [
            [5, 0], [0x30, 0], [0x30, 2, 5, 0], [0x30, 0x80, 0, 0], [0x30, 0x80, 5, 0, 0, 0],
            [0x30, 0x80, 0x30, 0x80, 0, 0, 0, 0], [0x30, 4, 0x30, 0x80, 0, 0], [0x30, 0x80, 4, 2, 0, 0, 0, 0],
            [4, 0x81, 1, 7], [4, 0x88, 0, 0, 0, 0, 0, 0, 0, 1, 7], [0x1F, 0x1F, 0], [0x3F, 0x81, 0x00, 2, 5, 0],
            [0xDF, 0x8F, 0xFF, 0xFF, 0x7F, 1, 0], [0x24, 0x80, 4, 1, 7, 0x24, 2, 4, 0, 0, 0],
        ] as [[UInt8]])
    func `are read`(_ bytes: [UInt8]) { #expect(isRead(bytes)) }

    @Test(
        arguments: [
            [], [5], [0x30], [0x30, 0x80], [0x30, 0x80, 0], [0x30, 0x80, 5, 0], [0x30, 0x80, 5, 0, 0],
            [0, 0], [0x30, 2, 0, 0], [0x30, 0x80, 0, 0, 0], [0x30, 0x80, 0, 0, 0, 0], [5, 0, 5, 0], [5, 1],
            [0x30, 1, 5],
            [0x30, 3, 5, 0], [0x30, 2, 5, 1, 0], [0x30, 2, 0x30, 0x80, 0, 0], [5, 0x80, 0, 0],
            [4, 0x80, 4, 1, 7, 0, 0],
            [0x1F, 0x80], [0x1F, 0x81, 0x81, 0x81, 0x81, 0x01, 0], [0x1F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0],
            [0x1F, 0x01, 0], [4, 0xFF], [4, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 1, 7],
            [4, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 7],
            [4, 0x88, 0x80, 0, 0, 0, 0, 0, 0, 0, 7], [4, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 7],
            [0x30, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 5, 0], [4, 0x84, 0, 0, 0, 2, 7], [4, 0x82, 1],
        ] as [[UInt8]])
    func `and nothing else`(_ bytes: [UInt8]) { #expect(!isRead(bytes)) }

    @Test func `bytes, depth and elements are bounded exactly`() {
        #expect(isRead(TestDER.octets([UInt8](repeating: 0, count: 4_092))))
        #expect(!isRead(TestDER.octets([UInt8](repeating: 0, count: 4_093))))
        func nested(_ depth: Int) -> [UInt8] {
            (0..<depth).reduce(TestDER.null) { inner, _ in TestDER.sequence(inner) }
        }
        func endless(_ depth: Int) -> [UInt8] {
            (0..<depth).reduce(TestDER.null) { inner, _ in TestDER.indefinite(0x30, [inner]) }
        }
        #expect(isRead(nested(8)) && !isRead(nested(9)) && isRead(endless(8)) && !isRead(endless(9)))
        func wide(_ count: Int) -> [UInt8] { TestDER.element(0x30, Array(repeating: TestDER.null, count: count)) }
        #expect(isRead(wide(99)) && !isRead(wide(100)))
    }

    @Test func `our limits are within those of the parser`() {
        func nested(_ depth: Int) -> [UInt8] {
            (0..<depth).reduce(TestDER.null) { inner, _ in TestDER.sequence(inner) }
        }
        #expect(isRead(nested(BERLimits.message.depth), .message))
        #expect(!isRead(nested(BERLimits.message.depth + 1), .message))
    }

    @Test(
        arguments: [
            ([0], 0), ([1], 1), ([0x7F], 127), ([0xFF], -1), ([0x80], -128), ([0, 0x80], 128), ([0xFF, 0x7F], -129),
            ([0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Int64.max), ([0x80, 0, 0, 0, 0, 0, 0, 0], Int64.min),
            ([], nil), ([0, 0x80, 0, 0, 0, 0, 0, 0, 0], nil),
        ] as [([UInt8], Int64?)])
    func `whole numbers of eight octets`(_ octets: [UInt8], _ number: Int64?) throws {
        let node = try BERReader.read(TestDER.element(0x02, octets)[...], within: .value)
        #expect(node.integer == number)
    }

    @Test(arguments: [Int64.min, -65_536, -129, -128, -1, 0, 1, 127, 128, 255, 256, 65_535, Int64.max])
    func `whole numbers as they are written`(_ number: Int64) throws {
        #expect(try BERReader.read(TestDER.integer(number)[...], within: .value).integer == number)
    }

    /// Inputs that a naive parser follows for long, each within a receipt's limit of bytes.
    private static func hostile(_ size: Int) -> [(String, [UInt8])] {
        let large = (0..<40).reduce([UInt8]()) { inner, _ in TestDER.element(0x30, inner) }
        return [
            (
                "a MiB of nested indefinite lengths",
                Array([[UInt8]](repeating: [0x30, 0x80], count: size / 2).joined())
            ),
            (
                "a MiB of nested lengths that end nowhere",
                [[UInt8]](repeating: [0x30, 0x82, 0xFF, 0xFF], count: size / 4).flatMap(\.self)
            ),
            ("a MiB of nested definite lengths", nested(size)),
            ("a MiB of pieces of nothing", TestDER.indefinite(0x24, [[UInt8]](repeating: [4, 0], count: size / 2))),
            ("a MiB of ends of contents", [0x30, 0x80] + [UInt8](repeating: 0, count: size)),
            ("a MiB of ones", [UInt8](repeating: 0xFF, count: size)),
            ("a MiB of long tags", [0x30, 0x80] + [UInt8](repeating: 0x9F, count: size)),
            ("a MiB of empty sets", TestDER.element(0x30, [[UInt8]](repeating: [0x31, 0], count: size / 2))),
            ("forty levels", large), ("an indefinite length that never ends", [0x30, 0x80, 6, 1, 42]),
            ("a length of 64 bits", [0x30, 0x88] + [UInt8](repeating: 0xFF, count: 8)),
            ("a length beyond the end", [0x30, 0x83, 0x10, 0, 0, 6, 1, 42]),
        ]
    }

    /// Definite lengths that are all right, one in another.
    private static func nested(_ size: Int) -> [UInt8] {
        var reversed: [UInt8] = []
        while reversed.count < size { reversed += (TestDER.length(reversed.count).reversed() + [0x30]) }
        return reversed.reversed()
    }

    @Test(arguments: 0..<12)
    func `hostile ASN.1 is refused wherever it stands`(_ index: Int) {
        let (name, large) = Self.hostile(1 << 20)[index]
        var texts = [large.base64, TestReceipt().with { $0.arrange = { _ in large } }.text]
        let small = Self.hostile(40_000)[index].1
        texts.append(TestReceipt().with { $0.message = { $0.signers = [small] } }.text)
        texts.append(TestReceipt().with { $0.message = { $0.certificates[0] = small } }.text)
        texts.append(TestReceipt().with { $0.more = [TestReceipt.attribute(17, small)] }.text)
        texts.append(TestReceipt().with { $0.fields[12] = small }.text)
        for text in texts {
            #expect(ReceiptCase.reason(text) == .malformed, "\(name)")
            #expect(ReceiptCase.verifier.explain(text).refusal?.reason == .malformed, "\(name)")
        }
    }
}
