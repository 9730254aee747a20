import Domain
import Testing

struct JSONValueTests {
    @Test(
        arguments: [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
            (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
            (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
            (#"{"a":"foo"}"#, #"null"#, #"null"#),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1,"e":null}"#),
            (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ])
    func `a merge patch does what the examples of RFC 7396 say`(
        _ original: String, _ patch: String, _ result: String
    ) throws {
        let value = try decoded(original, as: JSONValue.self)
        #expect(try json(value.merging(try decoded(patch))) == result)
    }

    @Test func `the document of RFC 7396 is patched as its section 3 says`() throws {
        let original = try decoded(
            """
            {"title":"Goodbye!","author":{"givenName":"John","familyName":"Doe"},"tags":["example","sample"],
            "content":"This will be unchanged"}
            """, as: JSONValue.self)
        let patch = try decoded(
            """
            {"title":"Hello!","phoneNumber":"+01-123-456-7890","author":{"familyName":null},"tags":["example"]}
            """, as: JSONValue.self)
        #expect(
            try json(original.merging(patch)) == """
                {"author":{"givenName":"John"},"content":"This will be unchanged","phoneNumber":"+01-123-456-7890",\
                "tags":["example"],"title":"Hello!"}
                """)
    }

    @Test(
        arguments: [
            ("null", .null), ("true", .bool(true)), ("false", .bool(false)), ("0", .integer(0)), ("1", .integer(1)),
            ("-5", .integer(-5)), ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("2.5", .number(2.5)), (#""""#, .string("")), (#""1""#, .string("1")), (#""true""#, .string("true")),
            ("[]", .array([])), ("{}", .object([:])), ("[null,[1]]", .array([.null, .array([.integer(1)])])),
            (#"{"a":{"b":null}}"#, .object(["a": .object(["b": .null])])), (#""会员""#, .string("会员")),
        ] as [(String, JSONValue)])
    func `any JSON is read and written unchanged`(_ text: String, _ value: JSONValue) throws {
        #expect(try decoded("[\(text)]", as: JSONValue.self) == .array([value]))
        #expect(try json(JSONValue.array([value])) == "[\(text)]")
    }
}
