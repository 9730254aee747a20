import Foundation
import Testing

@testable import Domain

@Suite("JSON text, and Foundation's encoder of the same form")
struct JSONTextTests {
    private static func reference(_ value: some Encodable) throws -> Data { try JSONText.encoder().encode(value) }

    private struct Parts: Encodable {
        var z = 1
        var b = "text"
        var list: [Int64] = [1, .max, .min]
        var empty: [String] = []
        var absent: String?
        var lacks: [Int?] = [nil, 2]
        var table = ["f": UInt8(1), "é": 2, "e\u{301}z": 3, "Z": 4, "ａ": 5, "😀": 6]
        var nothing: [String: String] = [:]
        var isTrue = true
        var none = Nullable<String>(wrappedValue: nil)
        var unsigned = UInt64.max
        var choice = Choice.second
    }

    private enum Choice: String, Encodable { case second }

    /// A type that writes its members in two turns, one of them twice.
    private struct InTwoTurns: Encodable {
        enum First: String, CodingKey { case b, d }
        enum Second: String, CodingKey { case a, b }

        func encode(to encoder: any Encoder) throws {
            var first = encoder.container(keyedBy: First.self)
            try first.encode("first", forKey: .b)
            try first.encode(Parts(), forKey: .d)
            var second = encoder.container(keyedBy: Second.self)
            try second.encodeNil(forKey: .a)
            try second.encode("second", forKey: .b)
        }
    }

    @Test func `objects, arrays and values within each other are the same bytes`() throws {
        #expect(JSONTextEncoder.encoded(Parts()) == (try Self.reference(Parts())))
        let deep = ["x": [Parts(), Parts()], "a": []]
        #expect(JSONTextEncoder.encoded(deep) == (try Self.reference(deep)))
        #expect(JSONTextEncoder.encoded(InTwoTurns()) == (try Self.reference(InTwoTurns())))
        #expect(JSONTextEncoder.encoded([Int]()) == (try Self.reference([Int]())))
        #expect(JSONTextEncoder.encoded(Parts?.none) == (try Self.reference(Parts?.none)))
    }

    @Test func `every character is the same bytes`() throws {
        for first in stride(from: UInt32(0), to: 0x11_0000, by: 0x400) {
            let scalars = (first..<first + 0x400).compactMap(Unicode.Scalar.init)
            let text = String(String.UnicodeScalarView(scalars))
            #expect(JSONTextEncoder.encoded(text) == (try Self.reference(text)))
        }
    }

    @Test func `random values are the same bytes`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let value = Self.value(depth: 4, &random)
            #expect(JSONTextEncoder.encoded(value) == (try Self.reference(value)))
        }
    }

    private static func value(depth: Int, _ random: inout SystemRandomNumberGenerator) -> JSONValue {
        let texts = ["", "a", "b\"c", "\u{0}\u{1f}\u{7f}", "é", "e\u{301}", "/\\", "键", "\u{2028}", "😀😀"]
        func text() -> String { (texts.randomElement(using: &random) ?? "") + String(Int.random(in: 0...20)) }
        return switch Int.random(in: 0...(depth == 0 ? 3 : 5), using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2: .integer(.random(in: .min ... .max, using: &random))
        case 3: .string(text())
        case 4: .array((0..<Int.random(in: 0...5)).map { _ in value(depth: depth - 1, &random) })
        default:
            .object(
                Dictionary(
                    (0..<Int.random(in: 0...9)).map { _ in (text(), value(depth: depth - 1, &random)) },
                    uniquingKeysWith: { $1 }))
        }
    }

    private enum Fact: Encodable {
        case paid(Int, by: String)
        case opened
        case parts(Parts, within: [Fact])
    }

    /// A type with nested objects that follow each other, within each other, and are empty.
    private struct NestedObjects: Encodable {
        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: InTwoTurns.First.self)
            var first = outer.nestedContainer(keyedBy: InTwoTurns.Second.self, forKey: .d)
            try first.encode(1, forKey: .b)
            var inner = first.nestedContainer(keyedBy: InTwoTurns.First.self, forKey: .a)
            try inner.encode([Fact.opened], forKey: .b)
            _ = outer.nestedContainer(keyedBy: InTwoTurns.First.self, forKey: .b)
        }
    }

    /// A type that goes on with a nested object after it has begun the next one.
    private struct InTurns: Encodable {
        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: InTwoTurns.First.self)
            var first = outer.nestedContainer(keyedBy: InTwoTurns.First.self, forKey: .b)
            var second = outer.nestedContainer(keyedBy: InTwoTurns.First.self, forKey: .d)
            try first.encode(1, forKey: .b)
            try second.encode(2, forKey: .d)
        }
    }

    /// A type that makes a nested object twice.
    private struct Twice: Encodable {
        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: InTwoTurns.First.self)
            var first = outer.nestedContainer(keyedBy: InTwoTurns.First.self, forKey: .b)
            try first.encode(1, forKey: .b)
            var second = outer.nestedContainer(keyedBy: InTwoTurns.First.self, forKey: .b)
            try second.encode(2, forKey: .d)
        }
    }

    @Test func `an enum's associated values and other nested objects are the same bytes`() throws {
        let facts = [Fact.paid(1, by: "a/b"), .opened, .parts(Parts(), within: [.opened, .paid(.max, by: "\"")])]
        #expect(JSONTextEncoder.encoded(facts) == (try Self.reference(facts)))
        #expect(JSONTextEncoder.encoded(NestedObjects()) == (try Self.reference(NestedObjects())))
        #expect(JSONTextEncoder.encoded(["a": NestedObjects()]) == (try Self.reference(["a": NestedObjects()])))
    }

    private struct Caught: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: InTwoTurns.First.self)
            try container.encode(1, forKey: .b)
            try? container.encode(1.5, forKey: .d)
        }
    }

    private struct Nested: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: InTwoTurns.First.self)
            var list = container.nestedUnkeyedContainer(forKey: .b)
            try list.encode("in a list")
        }
    }

    private struct Empty: Encodable {
        func encode(to encoder: any Encoder) {}
    }

    @Test func `what is left to Foundation is written by it whole`() throws {
        let values: [any Encodable] = [
            1.5, [Float(2)], Data([1]), [Date(timeIntervalSince1970: 0)], ["a": Decimal(1)], URL(fileURLWithPath: "/"),
            JSONValue.number(0.1), Caught(), Nested(), InTurns(), Twice(), [Empty()],
        ]
        for value in values {
            #expect(JSONTextEncoder.encoded(value) == nil)
            #expect(try JSONText.encoded(value) == (try Self.reference(value)))
        }
        #expect(throws: EncodingError.self) { try JSONText.encoded(Double.nan) }
        #expect(throws: EncodingError.self) { try JSONText.encoded(Empty()) }
    }
}
