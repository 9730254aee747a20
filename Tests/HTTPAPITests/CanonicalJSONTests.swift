import Foundation
import Testing

@testable import HTTPAPI

struct CanonicalJSONTests {
    private func form(_ text: String) -> Data? { CanonicalJSON.form(Data(text.utf8)) }

    @Test(arguments: [
        (#"{"a":1,"b":[true,null]}"#, #" { "b" : [ true , null ], "a" : 1 } "#), (#"{"a":1}"#, #"{"\u0061":1.0}"#),
        ("1e2", "100"), ("-0.50", "-5e-1"), ("0", "-0.0"), (#""\ud83d\ude00\/""#, #""😀/""#), ("[]", "[ ]"),
        (#"{"a":{"c":1,"b":2}}"#, #"{"a":{"b":2,"c":1}}"#),
    ])
    func `the same values have one form`(first: String, second: String) {
        #expect(form(first) != nil && form(first) == form(second))
    }

    @Test(arguments: [
        ("9007199254740993", "9007199254740992"), ("1", #""1""#), ("[1,2]", "[2,1]"), (#"{"a":1}"#, #"{"b":1}"#),
        (#"{"a":"1,"}"#, #"{"a":"1"}"#), ("0.1", "0.10000000000000001"), ("null", "false"), (#"["a","b"]"#, #"["ab"]"#),
    ])
    func `other values have others`(first: String, second: String) {
        #expect(form(first) != nil && form(second) != nil && form(first) != form(second))
    }

    @Test(arguments: [
        "", "{", #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, "[1,]", "01x", #""\ud800""#, "1 2", "1e9999999999",
        "\"\n\"",
        String(repeating: "[", count: 100) + String(repeating: "]", count: 100),
    ])
    func `what has no single meaning has no form`(text: String) { #expect(form(text) == nil) }
}
