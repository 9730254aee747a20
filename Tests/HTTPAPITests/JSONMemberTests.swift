import Foundation
import Testing

@testable import HTTPAPI

struct JSONMemberTests {
    @Test(
        arguments: [
            (#"{"token":{"a":1}}"#, #"{"a":1}"#),
            (#"{ "x":1 , "token" : {"a" : "}" } , "y":[{"token":2}]}"#, #"{"a" : "}" }"#),
            (#"{"x":{"token":1},"token":[1,{"b":"\"}"}]}"#, #"[1,{"b":"\"}"}]"#),
            ("{\"\\u0074oken\":\n\"text\" }", #""text""#),
            (#"{"x":"token","token":-1.50e3}"#, "-1.50e3"), (#"{"a":"\\","token":null}"#, "null"),
            (#"{"token":"é\u00e9"}"#, #""é\u00e9""#), (#"{"x":"{\"token\":1}","token":true}"#, "true"),
        ])
    func `a member stands as it was sent`(_ json: String, _ value: String) {
        #expect(JSONMember.value("token", of: Data(json.utf8)) == Data(value.utf8))
    }

    @Test(
        arguments: [
            "{}", #"{"x":1}"#, #"{"token":1,"token":2}"#, #"{"token":1,"\u0074oken":2}"#, #"{"x":{"token":1}}"#, "[]",
            "",
            #"{"x":["token",{"token":1}]}"#,
        ])
    func `a member that is missing or repeated is none`(_ json: String) {
        #expect(JSONMember.value("token", of: Data(json.utf8)) == nil)
    }

    @Test func `whatever the bytes, it ends`() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array(#"{}[]",:\ tokenu0074"#.utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            let found = JSONMember.value("token", of: Data(bytes))
            #expect((found?.count ?? 0) <= bytes.count)
        }
    }
}
