import Domain
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Gateway
@testable import PaydeskServer

/// A server's list of events, and a receiver whose answers a test sets.
private final class ForwardingScene: Sendable {
    private struct State {
        var numbers: [Int64] = []
        var calls = 0
        var answers: [EventForwarding.Outcome] = []
        var sent: [SignedMessage] = []
        var lines: [String] = []
        var pauses: [Duration] = []
    }

    private let state = Mutex(State())

    init(_ numbers: [Int64], answers: [EventForwarding.Outcome] = []) {
        state.withLock { ($0.numbers, $0.answers) = (numbers, answers) }
    }

    var calls: Int { state.withLock { $0.calls } }
    var sent: [SignedMessage] { state.withLock { $0.sent } }
    var ids: [String] { sent.map { $0.headers.first { $0.name == "webhook-id" }?.value ?? "" } }
    var lines: [String] { state.withLock { $0.lines } }
    var pauses: [Duration] { state.withLock { $0.pauses } }

    static func type(_ number: Int64) -> String { number % 2 == 0 ? "order.paid" : "order.opened" }

    private static func item(_ number: Int64) -> JSONValue {
        .object([
            "id": .string("evt_\(number)"), "seq": .integer(number), "sequence": .integer(1),
            "type": .string(type(number)), "subject": .string("ord_\(number)"), "at": .integer(1_700_000_000),
            "data": .object(["price": .number(1.5)]),
        ])
    }

    private func answer(_ query: KeyValuePairs<String, String?>) -> ServerClient.Reply {
        let query = Dictionary(uniqueKeysWithValues: query.map { ($0.key, $0.value ?? "") })
        let (after, limit) = (Int64(query["after"] ?? "") ?? 0, Int(query["limit"] ?? "") ?? 0)
        let numbers = state.withLock { state in
            state.calls += 1
            return state.numbers.filter { $0 > after }
        }
        let page = numbers.prefix(limit)
        let next = numbers.count > limit ? page.last.map { JSONValue.integer($0) } : nil
        // The scene ends here: the reader has seen all of it.
        if page.isEmpty, query["wait"] != "0" { withUnsafeCurrentTask { $0?.cancel() } }
        return .data(.object(["items": .array(page.map(Self.item)), "next_cursor": next ?? .null]))
    }

    var reader: EventFeedReader {
        EventFeedReader { [self] pause in
            state.withLock { $0.pauses.append(pause) }
        } call: { [self] _, query in
            answer(query)
        }
    }

    func forwarding(
        after: Int64 = 0, types: Set<String>? = nil, retries: Bool = false,
        asks: (@Sendable () async -> Bool)? = nil, secret: WebhookSecret
    ) -> EventForwarding {
        EventForwarding(
            reader, after: after, EventForwarding.Settings(types: types, retries: retries, asksToRetry: asks),
            secret: secret, time: TimeSource { 1_700_000_001_000 },
            post: { [self] message, _ in
                state.withLock { state in
                    state.sent.append(message)
                    return state.answers.isEmpty ? .answered(200) : state.answers.removeFirst()
                }
            }, show: { [self] line in state.withLock { $0.lines.append(line) } })
    }
}

@Suite("Forwarding events")
struct EventForwardingTests {
    private let secret = WebhookSecret(random: SystemDependencies.random)

    @Test(arguments: [[], [1], [7], [1, 2, 3], [5, 900, 901], Array(1...513), [1, 4_096, 70_000]] as [[Int64]])
    func `the newest event is found in few calls`(_ numbers: [Int64]) async throws {
        let scene = ForwardingScene(numbers)
        #expect(try await scene.reader.newest() == numbers.last ?? 0)
        #expect(scene.calls < 60)
    }

    @Test
    func `events go out in their order as webhooks do, and the cursor is the last`() async throws {
        let scene = ForwardingScene([3, 4, 7])
        let forwarding = scene.forwarding(after: 3, secret: secret)
        try await Task { try await forwarding.run() }.value
        #expect(scene.ids == ["evt_4", "evt_7"] && forwarding.cursor == 7)
        let message = try #require(scene.sent.first)
        let body = try JSONDecoder().decode(JSONValue.self, from: message.body)
        let wanted: JSONValue = .object([
            "seq": .integer(4), "sequence": .integer(1), "type": .string("order.paid"), "subject": .string("ord_4"),
            "timestamp": .integer(1_700_000_000), "data": .object(["price": .number(1.5)]),
        ])
        #expect(body == wanted)
        let headers = Dictionary(uniqueKeysWithValues: message.headers)
        #expect(headers["webhook-timestamp"] == "1700000001")
        #expect(
            headers["webhook-signature"] == secret.signature(id: "evt_4", timestamp: 1_700_000_001, body: message.body))
        #expect(scene.lines.contains { $0.contains("order.paid") && $0.contains("200") })
    }

    @Test
    func `other types are passed over, and move the cursor`() async throws {
        let scene = ForwardingScene([1, 2, 3])
        let forwarding = scene.forwarding(types: ["order.paid"], secret: secret)
        try await Task { try await forwarding.run() }.value
        #expect(scene.ids == ["evt_2"] && forwarding.cursor == 3)
    }

    @Test
    func `a failure is shown and passed over, or tried again after 1, 5 and 30 seconds`() async throws {
        let failures: [EventForwarding.Outcome] = [.answered(500), .failed("refused"), .answered(404), .answered(302)]
        let once = ForwardingScene([1, 2], answers: [.answered(500)])
        let passing = once.forwarding(secret: secret)
        try await Task { try await passing.run() }.value
        #expect(once.ids == ["evt_1", "evt_2"] && passing.cursor == 2 && once.lines.contains { $0.contains("500") })

        let stubborn = ForwardingScene([1, 2], answers: failures)
        let trying = stubborn.forwarding(retries: true, secret: secret)
        try await Task { try await trying.run() }.value
        #expect(stubborn.ids == ["evt_1", "evt_1", "evt_1", "evt_1", "evt_2"] && trying.cursor == 2)
        #expect(stubborn.pauses == [.seconds(1), .seconds(5), .seconds(30)])

        let asked = ForwardingScene([1], answers: [.answered(503)])
        let person = asked.forwarding(asks: { true }, secret: secret)
        try await Task { try await person.run() }.value
        #expect(asked.ids == ["evt_1", "evt_1"] && asked.pauses == [.seconds(1)])
    }

    @Test
    func `the end takes what is there already, and waits for nothing`() async throws {
        let scene = ForwardingScene([1, 2], answers: [.answered(500)])
        let forwarding = scene.forwarding(secret: secret)
        try await forwarding.finish()
        #expect(scene.ids == ["evt_1", "evt_2"] && forwarding.cursor == 2 && scene.pauses.isEmpty)
        // An event that is to be tried again stays the next one.
        let stubborn = ForwardingScene([1, 2], answers: [.answered(500)])
        let trying = stubborn.forwarding(retries: true, secret: secret)
        try await trying.finish()
        #expect(stubborn.ids == ["evt_1"] && trying.cursor == 0 && stubborn.pauses.isEmpty)
    }

    @Test(
        arguments: [
            "http://127.0.0.1:3000/hook", "http://127.8.9.1", "https://localhost:8443/a?b=c", "http://[::1]:3000/",
            "HTTP://LOCALHOST/",
        ])
    func `events go to this machine`(_ address: String) throws {
        #expect(try ForwardTarget(address, allowsRemote: false).address == address)
    }

    @Test(
        arguments: [
            ("http://example.com/hook", "--allow-remote"), ("http://10.0.0.1/", "--allow-remote"),
            ("http://127.0.0.1.example.com/", "--allow-remote"), ("http://localhost.example.com/", "--allow-remote"),
            ("ftp://127.0.0.1/hook", "http"), ("file:///etc/passwd", "http"), ("127.0.0.1:3000", "http"), ("", "http"),
            ("http://127.0.0.1/#a", "http"), ("http://u:p@127.0.0.1/", "http"),
        ])
    func `events go nowhere else by themselves`(_ address: String, _ word: String) throws {
        let refusal = #expect(throws: CommandError.self) { try ForwardTarget(address, allowsRemote: false) }
        #expect(refusal?.exitCode == 2 && refusal?.message.contains(word) == true)
        let isRemote = word == "--allow-remote"
        #expect(((try? ForwardTarget(address, allowsRemote: true)) != nil) == isRemote)
    }
}
