import Testing

@testable import Domain

@Suite("JSON read strictly")
struct JSONTreeTests {
    @Test(arguments: [
        (#"{"a":1}"#, JSONTree.object([.init(name: "a", value: .number("1"))])), ("[]", .array([])),
        (#""\u00e9\ud83d\ude00\n""#, .string("é😀\n")), (" -1.50e3 ", .number("-1.50e3")), ("true", .bool(true)),
        (#"[null,false,"é"]"#, .array([.null, .bool(false), .string("é")])),
    ])
    func `a text is read as it stands`(_ text: String, _ tree: JSONTree) throws {
        #expect(try JSONTree(Array(text.utf8)) == tree)
    }

    @Test(arguments: [
        (#"{"a":1 "b":2}"#, JSONFault.Problem.syntax, 7), (#"{"a":1,}"#, .syntax, 7), ("[1,]", .syntax, 3),
        ("", .syntax, 0), ("{}x", .syntax, 2), ("01", .syntax, 1), ("1.", .syntax, 2), (#"{"a"#, .syntax, 3),
        (#""\ud83d""#, .syntax, 7), (#""\u+123""#, .syntax, 2), ("nul", .syntax, 0),
        (#"{"a":1,"a":2}"#, .duplicate("a"), 7),
        (#"[{"a":1,"\u0061":2}]"#, .duplicate("a"), 8), (#"{"a":"x\u0000"}"#, .nul, 7), ("[[[1]]]", .depth, 2),
    ])
    func `a fault has its place`(_ text: String, _ problem: JSONFault.Problem, _ offset: Int) {
        #expect(throws: JSONFault(problem: problem, offset: offset)) { try JSONTree(Array(text.utf8), depth: 2) }
    }

    @Test func `whatever the bytes, it ends`() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array(#"{}[]",:\ u0074enrtfa-.1"#.utf8) + [0, 0xC3, 0xA9]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            do { _ = try JSONTree(bytes) } catch { #expect((0...bytes.count).contains(error.offset)) }
        }
    }

    struct Price: Decodable {
        let value: Int64
        let currency: String
    }

    struct Body: Decodable {
        enum Kind: String, Decodable, CaseIterable { case pass, coin }

        let id: String
        let kind: Kind
        let prices: [Price]
        let labels: [String: String]?
        let duration_days: Int64?
    }

    @Test(arguments: [
        (#"{"id":"x","kind":"pass","prices":[],"days":1}"#, "days", "id"),
        (#"{"ID":"x","kind":"pass","prices":[]}"#, "ID", "id"),
        (
            #"{"id":"x","kind":"pass","prices":[{"value":1,"currency":"CNY"},{"vlaue":1,"currency":"CNY"}]}"#,
            "prices[1].vlaue", "value"
        ),
        (#"{"knd":"pass","durationDays":3}"#, "knd", "kind"),
        (#"{"duration_day":null}"#, "duration_day", "duration_days"),
    ])
    func `an unknown member is found with its place and the nearest name`(
        _ text: String, _ place: String, _ nearest: String
    ) throws {
        let found = try JSONTree(Array(text.utf8)).unknownMember(of: Body.self)
        #expect(found == UnknownMember(place: place, nearest: nearest))
    }

    @Test func `names of a map are nobody's to know`() throws {
        let text = #"{"id":"x","kind":"pass","prices":[],"labels":{"anything":"y"}}"#
        #expect(try JSONTree(Array(text.utf8)).unknownMember(of: Body.self) == nil)
    }

    @Test(arguments: [
        (#"{"kind":"pass","prices":[]}"#, "id", JSONMisfit.Problem.missing),
        (#"{"id":1,"kind":"pass","prices":[]}"#, "id", .type(.string)),
        (#"{"id":"x","kind":"thing","prices":[]}"#, "kind", .words(["pass", "coin"])),
        (#"{"id":"x","kind":"pass","prices":[{"value":1.5,"currency":"CNY"}]}"#, "prices[0].value", .type(.integer)),
        (#"{"id":"x","kind":"pass","prices":[{"value":1e30,"currency":"CNY"}]}"#, "prices[0].value", .type(.integer)),
        (#"{"id":"x","kind":"pass","prices":{}}"#, "prices", .type(.array)),
        (#"{"id":"x","kind":"pass","prices":[3]}"#, "prices[0]", .type(.object)),
        (#"{"id":"x","kind":"pass","prices":[],"labels":{"a":1}}"#, "labels.a", .type(.string)),
        (#"{"id":null,"kind":"pass","prices":[]}"#, "id", .type(.string)),
    ])
    func `what does not fit is named with its place and type`(
        _ text: String, _ place: String, _ problem: JSONMisfit.Problem
    ) throws {
        let tree = try JSONTree(Array(text.utf8))
        #expect(throws: JSONMisfit(place: place, problem: problem)) { try tree.decode(Body.self) }
    }

    @Test(arguments: [("3.0", 3), ("3e2", 300), ("-0", 0), ("9223372036854775807", Int64.max)])
    func `whole numbers are integers however they are spelled`(_ text: String, _ value: Int64) throws {
        #expect(try JSONTree(Array(text.utf8)).decode(Int64.self) == value)
    }
}
