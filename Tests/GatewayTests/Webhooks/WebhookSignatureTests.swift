import Crypto
import Foundation
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Signatures of webhooks")
struct WebhookSignatureTests {
    /// The signature of a message by the text of the specification, written independently.
    private static func signature(_ received: ScriptedEndpoints.Received, _ secret: String) throws -> String {
        let key = try #require(Data(base64Encoded: String(secret.dropFirst("whsec_".count))))
        let text = "\(received.id).\(received.headers["webhook-timestamp"] ?? "")."
        let code = HMAC<SHA256>.authenticationCode(
            for: Data(text.utf8) + received.body, using: SymmetricKey(data: key))
        return "v1," + Data(code).base64EncodedString()
    }

    @Test(arguments: TestEngine.allCases)
    func `every attempt is signed anew and both secrets sign for a day`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            let old = try #require(hook.secret)
            #expect(Data(base64Encoded: String(old.dropFirst(6)))?.count == 32 && old.hasPrefix("whsec_"))
            desk.endpoints.answer(GatewayFixture.hook) { .replied(status: $0.repetition == 0 ? 500 : 200) }
            try await desk.append("ord_a")
            try await desk.work()
            try await desk.pass(seconds: 5)
            try await desk.work()
            let both = desk.endpoints.received(GatewayFixture.hook)
            #expect(both.count == 2 && both[0].id == both[1].id && both[0].id.hasPrefix("evt_"))
            #expect(both[0].headers["webhook-timestamp"] != both[1].headers["webhook-timestamp"])
            for received in both {
                #expect(try received.headers["webhook-signature"] == Self.signature(received, old))
                #expect(received.headers["content-type"] == "application/json")
            }

            let rotated = try await desk.gateway.webhooks.rotateSecret(
                of: hook.id.rawValue, by: try await desk.partnerKey(), context: .test)
            let new = try #require(rotated.secret)
            #expect(new != old)
            func next(_ subject: String) async throws -> ScriptedEndpoints.Received {
                desk.endpoints.answer(GatewayFixture.hook, status: 200)
                try await desk.append(subject)
                try await desk.work()
                return try #require(desk.endpoints.received(GatewayFixture.hook).last)
            }
            try await desk.pass(seconds: 86_390)
            let overlapping = try await next("ord_b")
            #expect(
                try overlapping.headers["webhook-signature"]
                    == "\(Self.signature(overlapping, new)) \(Self.signature(overlapping, old))")
            try await desk.pass(seconds: 20)
            let after = try await next("ord_c")
            #expect(try after.headers["webhook-signature"] == Self.signature(after, new))
        }
    }

    /// PyPI's `standardwebhooks` decides about what we send, sound and spoilt.
    ///
    /// Set `WEBHOOKS_INTEROP_PYTHON` to an interpreter that has `Interop/requirements.txt`; otherwise `python3` is tried.
    @Test func `the reference library accepts what we send`() async throws {
        try await withDesk(on: .sqlite) { desk in
            let hook = try await desk.subscribe()
            let old = try #require(hook.secret)
            // The library compares with the real clock.
            desk.clock.set(Int64(Date().timeIntervalSince1970))
            let new = try #require(
                try await desk.gateway.webhooks.rotateSecret(
                    of: hook.id.rawValue, by: try await desk.partnerKey(), context: .test
                ).secret)
            for number in 0..<20 { try await desk.append("ord_\(number)", data: #"{"name":"你好 \#(number) / é"}"#) }
            try await desk.buy()
            try await desk.work()
            let received = desk.endpoints.received(GatewayFixture.hook)
            #expect(received.count >= 22)
            var questions: [(line: [String: Any], isSound: Bool)] = []
            for message in received {
                let body = String(decoding: message.body, as: UTF8.self)
                for secret in [old, new] {
                    questions.append((["secret": secret, "headers": message.headers, "body": body], true))
                    questions.append((["secret": secret, "headers": message.headers, "body": body + " "], false))
                }
                let stranger = "whsec_" + Data(repeating: 1, count: 32).base64EncodedString()
                questions.append((["secret": stranger, "headers": message.headers, "body": body], false))
            }
            let lines = try questions.map { try JSONSerialization.data(withJSONObject: $0.line) }
            let verdicts = try await InteropPython(peer: "standardwebhooks").lines(
                "verify.py", input: Data(lines.joined(separator: [0x0A])))
            #expect(verdicts.map { $0 == "accept" } == questions.map(\.isSound))
            print("interop: \(verdicts.count) webhook messages, the library agrees about each")
        }
    }
}
