import Domain
import Foundation
import ProviderKit
import Testing

struct SettingsTests {
    private func json(_ schema: SettingsSchema) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(schema.jsonSchema), as: UTF8.self)
    }

    @Test(
        arguments: [
            (.text, #"{"description":"S","type":"string"}"#),
            (.secret, #"{"description":"S","type":"string","writeOnly":true}"#),
            (.integer(1...168), #"{"description":"S","maximum":168,"minimum":1,"type":"integer"}"#),
            (.boolean, #"{"description":"S","type":"boolean"}"#),
            (.choice(["a", "b"]), #"{"description":"S","enum":["a","b"],"type":"string"}"#),
            (.url, #"{"description":"S","format":"uri","type":"string"}"#),
            (.path, #"{"description":"S","format":"path","type":"string"}"#),
            (.list(.choice(["a"])), #"{"description":"S","items":{"enum":["a"],"type":"string"},"type":"array"}"#),
            (
                .object(SettingsSchema([.init("k", .secret, required: true, summary: "K")])),
                #"{"additionalProperties":false,"description":"S","#
                    + #""properties":{"k":{"description":"K","type":"string","writeOnly":true}},"#
                    + #""required":["k"],"type":"object"}"#
            ),
            (.map(.integer(0...9)), #"{"additionalProperties":true,"description":"S","type":"object"}"#),
        ] as [(SettingsSchema.FieldType, String)])
    func `every type has its JSON schema`(type: SettingsSchema.FieldType, expected: String) throws {
        let schema = SettingsSchema([.init("field", type, summary: "S")])
        #expect(
            try json(schema)
                == #"{"additionalProperties":false,"properties":{"field":\#(expected)},"required":[],"type":"object"}"#)
    }

    @Test func `settings are read by their types and absent ones are empty`() {
        let settings = ProviderSettings([
            "text": .text("a"), "number": .integer(3), "yes": .boolean(true), "list": .list([.text("x"), .integer(1)]),
            "object": .object(["inner": .text("i")]), "objects": .list([.object(["inner": .text("j")]), .text("x")]),
        ])
        #expect(settings.text("text") == "a" && settings.text("number") == "" && settings.text("none") == "")
        #expect(settings.integer("number") == 3 && settings.integer("text") == nil)
        #expect(settings.boolean("yes") && !settings.boolean("text") && !settings.boolean("none"))
        #expect(settings.texts("list") == ["x"] && settings.texts("text").isEmpty)
        #expect(settings.object("object").text("inner") == "i" && settings.object("none")["inner"] == nil)
        #expect(settings.objects("objects").map { $0.text("inner") } == ["j"])
    }

    @Test func `settings never show their values`() {
        let settings = ProviderSettings([
            "secret": .text("swordfish"), "nested": .object(["secret": .text("swordfish")]),
        ])
        let account = ProviderAccount(id: AccountID("box")!, settings: settings, isDevelopment: true)
        var dumped = ""
        dump(account, to: &dumped)
        for text in ["\(settings)", String(reflecting: settings), "\(account)", String(reflecting: account), dumped] {
            #expect(!text.contains("swordfish"), "\(text)")
        }
        #expect("\(settings)" == "ProviderSettings(nested, secret)")
    }

    @Test func `the first of a header's values counts`() {
        let raw = RawNotification(
            method: .post, headers: [(name: "a", value: "1"), (name: "a", value: "2")], body: Data())
        #expect(raw.header("a") == "1" && raw.header("b") == nil)
    }

    @Test func `idempotency keys are the id and the operation`() throws {
        let payment = try #require(ID<Payment>("pay_01jhgx0000000000000000000a"))
        let refund = try #require(ID<Refund>("ref_01jhgx0000000000000000000a"))
        let amount = Money(value: 1, currency: try #require(Currency("CNY")))
        let attempt = PaymentAttempt(
            payment: payment, order: try #require(ID<Order>("ord_01jhgx0000000000000000000a")), amount: amount,
            title: "",
            platform: .web, returnURL: nil, expiresAt: Timestamp(0), accepts: [])
        #expect(attempt.idempotencyKey == "pay_01jhgx0000000000000000000a-open")
        let reference = ProviderReference(payment: payment, reference: nil, amount: amount)
        let back = RefundAttempt(refund: refund, payment: reference, amount: amount, reason: "")
        #expect(back.idempotencyKey == "ref_01jhgx0000000000000000000a-refund")
    }
}
