import AppleTrust
import TestSupport
import Testing

@Suite("Payment tokens are read in every shape that clients send")
struct ApplePayFormTests {
    @Test(arguments: ApplePayRecipe.Form.allCases, ApplePayRecipe.Version.allCases)
    func `object, text, base64, and payment data alone`(
        _ form: ApplePayRecipe.Form, _ version: ApplePayRecipe.Version
    ) throws {
        let json = ApplePayTokenFixture.token(version) { $0.form = form }
        let token = try ApplePayToken(json)
        #expect(ApplePayTokenFixture.reason(json) == nil)
        #expect(token.version.rawValue == version.rawValue)
        #expect((token.transactionIdentifier == nil) == (form == .bare))
        #expect(token.method.network == (form == .bare ? nil : "Visa"))
        #expect(token.publicKeyHash.count == 32)
        // What is passed on to a processor reads the same by itself.
        let alone = try ApplePayToken(token.paymentData)
        #expect(alone.paymentData == token.paymentData && alone.publicKeyHash == token.publicKeyHash)
        #expect(ApplePayTokenFixture.reason(token.paymentData) == nil)
    }

    @Test func `payment data is kept byte for byte`() throws {
        let inner = String(decoding: ApplePayTokenFixture.token { $0.form = .bare }, as: UTF8.self)
        let spaced = inner.replacing(",\"header\"", with: " ,\n\t\"header\"") + "  "
        let object = " { \"x\" : {} , \"paymentData\" :  \(spaced) ,\"transactionIdentifier\": null}\n"
        let kept = spaced.dropLast(2)
        #expect(String(decoding: try ApplePayToken(Array(object.utf8)).paymentData, as: UTF8.self) == kept)
        let text = "{\"paymentData\":\(ApplePayRecipe.quoted(inner))}"
        #expect(String(decoding: try ApplePayToken(Array(text.utf8)).paymentData, as: UTF8.self) == inner)
        let base64 = "{\"paymentData\":\(ApplePayRecipe.base64(Array(spaced.replacing("\n", with: " ").utf8)))}"
        #expect(try ApplePayToken(Array(base64.utf8)).paymentData == Array(spaced.replacing("\n", with: " ").utf8))
    }

    @Test(arguments: [
        "", "null", "[]", "1", "\"text\"", "{", "{}", "{\"a\":1}", "{\"paymentData\":1}", "{\"paymentData\":[]}",
        "{\"paymentData\":true}", "{\"paymentData\":\"!\"}", "{\"paymentData\":\"[]\"}", "{\"paymentData\":\"{\"}",
        "{\"paymentData\":\"eyJ9\"}", "{\"paymentData\":{\"version\":\"EC_v1\"}}", "{\"version\":1}",
        "{\"paymentData\":{\"version\":\"EC_v1\",\"data\":\"\",\"signature\":\"\",\"header\":{}}}", "\u{FEFF}{}",
    ])
    func `anything else is malformed`(_ text: String) {
        #expect(ApplePayTokenFixture.reason(Array(text.utf8)) == "malformed")
    }

    @Test(arguments: [
        #"{"paymentData":{},"transactionIdentifier":"Simulated Identifier"}"#, #"{"paymentData":""}"#,
        #"{"paymentData":" "}"#, #"{"paymentData":"{}"}"#, #"{"paymentData":"e30="}"#, #"{"paymentData":null}"#,
        #"{"paymentMethod":{}}"#, #"{"transactionIdentifier":"Simulated Identifier"}"#,
    ])
    func `the Simulator's token has its own reason`(_ text: String) {
        #expect(ApplePayTokenFixture.reason(Array(text.utf8)) == "simulator_token")
    }

    @Test func `a token has at most 32 KiB`() {
        let text = String(decoding: ApplePayTokenFixture.token(), as: UTF8.self)
        let fitting = text + String(repeating: " ", count: 32_768 - text.utf8.count)
        #expect(ApplePayTokenFixture.reason(Array(fitting.utf8)) == nil)
        #expect(ApplePayTokenFixture.reason(Array((fitting + " ").utf8)) == "malformed")
        let nested = String(repeating: "{\"paymentData\":", count: 2_000)
        #expect(ApplePayTokenFixture.reason(Array(nested.utf8)) == "malformed")
    }

    @Test func `what is displayed is bounded, and wrong types of it are nothing`() throws {
        let long = String(repeating: "W", count: 1_000)
        let json = ApplePayTokenFixture.token {
            $0.editToken = {
                $0["paymentMethod"] = "{\"displayName\":\"\(long)\",\"network\":7,\"type\":null}"
            }
        }
        let method = try ApplePayToken(json).method
        #expect(method.displayName?.count == 64 && method.network == nil && method.type == nil)
        for wrong in ["7", "[]", "null", "\"Visa\""] {
            let json = ApplePayTokenFixture.token { $0.editToken = { $0["paymentMethod"] = wrong } }
            #expect(try ApplePayToken(json).method.displayName == nil)
        }
        for wrong in ["7", "{}", "\"\(String(repeating: "a", count: 129))\""] {
            let json = ApplePayTokenFixture.token { $0.editToken = { $0["transactionIdentifier"] = wrong } }
            #expect(ApplePayTokenFixture.reason(json) == "malformed")
        }
    }

    @Test func `every field has to be there, of its type and length`() {
        let sound = ["version", "data", "signature", "header"]
        for name in sound {
            for value in [nil, "null", "1", "[]", "{}", "\"\"", "\"?\"", "\"AAA\""] as [String?] {
                let json = ApplePayTokenFixture.token { $0.editData = { $0[name] = value } }
                let expected = name == "version" && value?.first == "\"" ? "unsupported_version" : "malformed"
                #expect(ApplePayTokenFixture.reason(json) == expected, "\(name) \(value ?? "-")")
            }
        }
        for name in ["ephemeralPublicKey", "publicKeyHash", "transactionId"] {
            for value in [nil, "null", "1", "{}", "\"\"", "\"?\"", "\"AAA\"", "\"AAAA\""] as [String?] {
                let json = ApplePayTokenFixture.token { $0.editHeader = { $0[name] = value } }
                #expect(ApplePayTokenFixture.reason(json) == "malformed", "\(name) \(value ?? "-")")
            }
        }
        for value in ["1", "{}", "\"\"", "\"zz\"", "\"abc\"", "\"\(String(repeating: "a", count: 66))\""] {
            let json = ApplePayTokenFixture.token { $0.editHeader = { $0["applicationData"] = value } }
            #expect(ApplePayTokenFixture.reason(json) == "malformed", "\(value)")
        }
    }
}
