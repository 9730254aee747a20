import Domain
import Foundation
import Logging
import ProviderKit
import Store
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite("Messages that are not believed")
struct RefusedRoomTests {
    private static func forged(_ text: String, bytes: Int = 0) -> RawNotification {
        RawNotification(
            method: .post, headers: [(name: "x-sandbox-signature", value: "t=1,v1=00")],
            body: Data(text.utf8) + Data(repeating: 0x20, count: bytes))
    }

    private static func send(
        _ raw: RawNotification, _ desk: GatewayFixture, account: String = "box-url", from address: String = "192.0.2.1"
    ) async throws {
        await #expect(throws: GatewayError.invalidNotification) {
            try await desk.gateway.notifications.receive(
                token: GatewayFixture.notifyToken(account), raw, from: IPAddress(address))
        }
    }

    /// A message that the sandbox signed and that cannot be understood: it holds U+0000.
    private static func signed(_ desk: GatewayFixture, type: String = "payment.pend\0ing") throws -> RawNotification {
        try SandboxNotice(
            event_id: "evt", payment_id: "pay_00000000000000000000000000", type: type, amount: GatewayFixture.money(1),
            occurred_at: desk.clock.now.rawValue
        ).signed(at: desk.clock.now)
    }

    private static func refused(_ desk: GatewayFixture) async throws -> [NotificationView] {
        try await desk.gateway.notifications.list(.rejected, cursor: nil, limit: 200).items
    }

    @Test(arguments: TestEngine.allCases)
    func `a refused message is kept once`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let raw = Self.forged("once")
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<10 { group.addTask { try? await Self.send(raw, desk) } }
            }
            try await Self.send(raw, desk, from: "192.0.2.2")
            #expect(try await Self.refused(desk).count == 1)
            try await Self.send(raw, desk, account: "box-qr")
            try await Self.send(Self.forged("twice"), desk)
            #expect(try await Self.refused(desk).count == 3)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `U+0000 inside a signed message is kept as it came`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let raw = try Self.signed(desk)
            // Somebody saw it and sent it first, without the signature.
            try await Self.send(RawNotification(method: .post, headers: [], body: raw.body), desk)
            try await Self.send(raw, desk)
            #expect(try await desk.count("notifications WHERE refusal = 'unreadable' AND refused_signed = 1") == 1)
            #expect(try await desk.count("notifications") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `each address has a share of what is kept, and what was signed is kept whatever came before`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            for number in 0..<70 { try await Self.send(Self.forged("a\(number)"), desk) }
            #expect(try await desk.count("notifications") == 60)
            for number in 0..<70 { try await Self.send(Self.forged("b\(number)"), desk, from: "192.0.2.2") }
            #expect(try await desk.count("notifications") == 120)
            // The account's share of this minute is full.
            try await Self.send(Self.forged("c"), desk, from: "192.0.2.3")
            #expect(try await desk.count("notifications") == 120)
            try await Self.send(Self.forged("c"), desk, account: "box-qr", from: "192.0.2.3")
            try await Self.send(try Self.signed(desk), desk)
            #expect(try await desk.count("notifications") == 122)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an account keeps so many bytes, and what was signed goes last`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await Self.send(try Self.signed(desk), desk)
            for number in 0..<40 {
                desk.clock.advance(seconds: 1)
                try await Self.send(Self.forged("\(number)", bytes: 250_000), desk, from: "192.0.2.\(number)")
            }
            let kept = try await desk.store.read { db in
                try db.rows(
                    "SELECT SUM(LENGTH(body) + LENGTH(headers)) AS n FROM notifications WHERE account = 'box-url'")
            }
            let bytes = try #require(try kept.first?.int("n"))
            #expect(bytes <= 8 << 20 && bytes > 7 << 20)
            #expect(try await desk.count("notifications WHERE refused_signed = 1") == 1)
            // The newest of the others are there.
            #expect(try await Self.refused(desk).count == 34)
        }
    }

    @Test
    func `log lines of one kind are counted`() async throws {
        let clock = Mutex<Int64>(0)
        let lines = RepeatedLines(time: TimeSource { clock.withLock { $0 } })
        let written = Mutex<[Logger.Metadata]>([])
        func write(_ count: Int, of name: String) {
            for _ in 0..<count {
                lines.write("refused", of: name, [:]) { line in written.withLock { $0.append(line) } }
            }
        }
        write(50, of: "a")
        write(3, of: "b")
        #expect(written.withLock { $0.count } == 23)
        clock.withLock { $0 = 60_000 }
        write(2, of: "a")
        #expect(written.withLock { $0.suffix(2) } == [["left_out": "30"], [:]])
    }
}
