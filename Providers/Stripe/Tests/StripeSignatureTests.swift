import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Testing

/// The forms of Stripe's signature header, one row each.
enum StripeHeaderTable {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let header: String
        let isGood: Bool
        /// Stripe's own library takes it, and this provider does not.
        var isStricter = false
        var testDescription: String { name }
    }

    static let body = Data(#"{"id":"evt_1","object":"event","type":"ping","livemode":false,"data":{"object":{}}}"#.utf8)
    static let old = "whsec_old0secret"

    /// - Parameter now: in seconds since 1970.
    static func rows(now: Int64) -> [Row] { shapes(now) + times(now) + codes(now) }

    private static func code(at time: Int64, secret: String = StripeFixture.secret, body: Data = body) -> String {
        String(FakeStripeServer.signature(body, at: time, secret: secret).split(separator: "=")[2])
    }

    private static func shapes(_ now: Int64) -> [Row] {
        let good = code(at: now)
        return [
            Row(name: "plain", header: "t=\(now),v1=\(good)", isGood: true),
            Row(name: "v1 before t", header: "v1=\(good),t=\(now)", isGood: true),
            Row(name: "with v0", header: "t=\(now),v1=\(good),v0=\(good)", isGood: true),
            Row(name: "v0 first", header: "v0=x,t=\(now),v1=\(good)", isGood: true),
            Row(name: "unknown scheme", header: "t=\(now),v9=abc,v1=\(good)", isGood: true),
            Row(name: "a part without =", header: "t=\(now),garbage,v1=\(good)", isGood: true),
            Row(name: "an empty part", header: "t=\(now),,v1=\(good)", isGood: true),
            Row(name: "a comma at the end", header: "t=\(now),v1=\(good),", isGood: true),
            Row(name: "a comma at the start", header: ",t=\(now),v1=\(good)", isGood: true),
            Row(name: "a nameless part", header: "=x,t=\(now),v1=\(good)", isGood: true),
            Row(name: "more behind another =", header: "t=\(now)=x,v1=\(good)=y", isGood: true),
            Row(name: "a second t is passed over", header: "t=\(now),t=1,v1=\(good)", isGood: true),
            Row(name: "the first t counts", header: "t=1,t=\(now),v1=\(good)", isGood: false),
            Row(name: "empty", header: "", isGood: false),
            Row(name: "a comma", header: ",", isGood: false),
            Row(name: "garbage", header: "garbage", isGood: false),
            Row(name: "t alone", header: "t=\(now)", isGood: false),
            Row(name: "v1 alone", header: "v1=\(good)", isGood: false),
            Row(name: "v0 only", header: "t=\(now),v0=\(good)", isGood: false),
            Row(name: "v2 only", header: "t=\(now),v2=\(good)", isGood: false),
            Row(name: "v1 in capitals", header: "t=\(now),V1=\(good)", isGood: false),
            Row(name: "t in capitals", header: "T=\(now),v1=\(good)", isGood: false),
            Row(name: "a blank before v1", header: "t=\(now), v1=\(good)", isGood: false),
            Row(name: "semicolons", header: "t=\(now);v1=\(good)", isGood: false),
            Row(name: "t without =", header: "t,v1=\(good)", isGood: false),
            Row(name: "v1 without =", header: "t=\(now),v1,v1=\(good)", isGood: false),
            Row(name: "colons", header: "t:\(now),v1:\(good)", isGood: false),
        ]
    }

    private static func times(_ now: Int64) -> [Row] {
        func at(_ name: String, _ time: Int64, _ isGood: Bool, isStricter: Bool = false) -> Row {
            Row(name: name, header: "t=\(time),v1=\(code(at: time))", isGood: isGood, isStricter: isStricter)
        }
        func text(_ name: String, _ time: String, isStricter: Bool = false) -> Row {
            Row(name: name, header: "t=\(time),v1=\(code(at: now))", isGood: false, isStricter: isStricter)
        }
        return [
            at("280 s old", now - 280, true), at("320 s old", now - 320, false), at("an hour old", now - 3_600, false),
            at("of 1970", 0, false), at("280 s ahead", now + 280, true),
            at("330 s ahead", now + 330, false, isStricter: true),
            at("a year ahead", now + 31_536_000, false, isStricter: true),
            text("t empty", ""), text("t of letters", "now"), text("t a fraction", "\(now).0"),
            text("t negative", "-\(now)"), text("t hexadecimal", "0x6786"),
            text("t with a plus", "+\(now)", isStricter: true), text("t with a blank", " \(now)", isStricter: true),
            text("t of 25 digits", "1234567890123456789012345"),
            Row(name: "t with zeros before it", header: "t=000\(now),v1=\(code(at: now))", isGood: true),
            Row(name: "another time than signed", header: "t=\(now - 1),v1=\(code(at: now))", isGood: false),
        ]
    }

    private static func codes(_ now: Int64) -> [Row] {
        let good = code(at: now)
        let bad = String(repeating: "0a", count: 32)
        func row(_ name: String, _ codes: [String], _ isGood: Bool) -> Row {
            Row(
                name: "code: \(name)", header: (["t=\(now)"] + codes.map { "v1=\($0)" }).joined(separator: ","),
                isGood: isGood)
        }
        return [
            row("a bad one beside a good one", [bad, good], true),
            row("a good one beside a bad one", [good, bad], true),
            row("the same twice", [good, good], true),
            row("ten bad ones and a good one", Array(repeating: bad, count: 10) + [good], true),
            row("an empty one beside a good one", ["", good], true), row("of é behind a good one", [good, "é"], true),
            row("forged", [bad], false), row("empty", [""], false), row("too short", [String(good.dropLast())], false),
            row("too long", [good + "0"], false), row("in capitals", [good.uppercased()], false),
            row("no digits", [String(repeating: "g", count: 64)], false), row("quoted", ["\"\(good)\""], false),
            row("with a blank behind it", [good + " "], false),
            row("by another's secret", [code(at: now, secret: "whsec_of_another")], false),
            row(
                "by the secret without its prefix", [code(at: now, secret: String(StripeFixture.secret.dropFirst(6)))],
                false),
            row("of another body", [code(at: now, body: body + Data([0x20]))], false),
            row(
                "of the body without its time",
                [String(FakeStripeServer.signature(body, at: 0, secret: StripeFixture.secret).suffix(64))], false),
        ]
    }
}

struct StripeSignatureTests {
    private static let now = ManualClock().now.rawValue

    private func receive(
        _ headers: [String], body: Data = StripeHeaderTable.body, secrets: [String] = [StripeFixture.secret],
        receivedAt: Timestamp? = nil
    ) async throws -> ReceivedNotification {
        let provider = try StripeFixture().provider(["webhook_secrets": .list(secrets.map { .text($0) })])
        let raw = FakeStripeServer.notification(body, headers)
        return try await provider.receive(
            RawNotification(method: .post, headers: raw.headers, body: body, receivedAt: receivedAt))
    }

    @Test(arguments: StripeHeaderTable.rows(now: now))
    func `a header proves its body or is refused`(row: StripeHeaderTable.Row) async throws {
        if row.isGood {
            let received = try await receive([row.header])
            #expect(received.eventID == "evt_1" && received.facts.isEmpty)
            #expect(received.acknowledgement == Acknowledgement(body: "ok"))
        } else {
            await #expect { try await receive([row.header]) } throws: { ($0 as? ProviderError)?.isUnproven ?? false }
        }
    }

    @Test func `the table has enough rows, and no two alike`() {
        let rows = StripeHeaderTable.rows(now: Self.now)
        #expect(rows.count >= 60 && Set(rows.map(\.name)).count == rows.count)
    }

    @Test(arguments: [-301, -300, 0, 300, 301] as [Int64])
    func `the window ends after exactly five minutes on both sides`(offset: Int64) async throws {
        let header = FakeStripeServer.signature(
            StripeHeaderTable.body, at: Self.now + offset, secret: StripeFixture.secret)
        if abs(offset) <= 300 {
            #expect(try await receive([header]).type == "ping")
        } else {
            await #expect(throws: ProviderError.unproven(.time)) { try await receive([header]) }
        }
    }

    @Test func `a kept notification is judged by the time of its arrival`() async throws {
        let day: Int64 = 86_400
        let header = FakeStripeServer.signature(
            StripeHeaderTable.body, at: Self.now - day, secret: StripeFixture.secret)
        await #expect(throws: ProviderError.unproven(.time)) { try await receive([header]) }
        #expect(try await receive([header], receivedAt: Timestamp(Self.now - day)).eventID == "evt_1")
    }

    @Test func `while a secret is replaced either one proves`() async throws {
        let body = StripeHeaderTable.body
        for secret in [StripeHeaderTable.old, StripeFixture.secret] {
            let header = FakeStripeServer.signature(body, at: Self.now, secret: secret)
            let secrets = [StripeFixture.secret, StripeHeaderTable.old]
            #expect(try await receive([header], secrets: secrets).eventID == "evt_1")
        }
        let old = FakeStripeServer.signature(body, at: Self.now, secret: StripeHeaderTable.old)
        await #expect(throws: ProviderError.unproven(.signature)) { try await receive([old]) }
    }

    @Test func `anything but one header is refused`() async {
        let good = FakeStripeServer.signature(StripeHeaderTable.body, at: Self.now, secret: StripeFixture.secret)
        for headers in [[], [good, good], [good, "garbage"]] {
            await #expect(throws: ProviderError.unproven(.signature)) { try await receive(headers) }
        }
    }

    @Test func `a header beyond all measure is refused`() async {
        let good = FakeStripeServer.signature(StripeHeaderTable.body, at: Self.now, secret: StripeFixture.secret)
        for tail in [
            String(repeating: ",v1=" + String(repeating: "0a", count: 32), count: 40),
            String(repeating: ",", count: 9_000),
        ] {
            await #expect(throws: ProviderError.unproven(.signature)) { try await receive([good + tail]) }
        }
    }

    /// Made by Stripe's own library (stripe 16.1.0).
    @Test func `a signature of Stripe's library proves`() async throws {
        let body = Data("{\n  \"id\": \"evt_test_webhook\",\n  \"object\": \"event\"\n}".utf8)
        let header = "t=1700000000,v1=4f1cd7feda9826e746b7d482c4badebb657398df1099e1046364f6196a230150"
        // It is proven, and then found to be no event.
        await #expect(throws: ProviderError.rejected(reason: "malformed_body")) {
            try await receive(
                [header], body: body, secrets: ["whsec_test_secret"], receivedAt: Timestamp(1_700_000_000))
        }
    }
}
