import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("The order of webhooks")
struct WebhookOrderTests {
    @Test(arguments: TestEngine.allCases)
    func `first attempts of a subject keep their order whatever fails`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            // Every third event fails twice before it is taken.
            desk.endpoints.answer(GatewayFixture.hook) { received in
                let sequence = Int(received.member("sequence")) ?? 0
                return .replied(status: sequence % 3 == 0 && received.repetition < 2 ? 500 : 200)
            }
            let subjects = (0..<7).map { "ord_subject\($0)" }
            for number in 0..<420 { try await desk.append(subjects[number % 7]) }
            try await desk.work()
            let first = desk.endpoints.received(GatewayFixture.hook).filter { $0.repetition == 0 }
            #expect(first.count == 420)
            for subject in subjects {
                let sequences = first.filter { $0.member("subject") == subject }.map { $0.member("sequence") }
                #expect(sequences == (1...60).map(String.init))
            }
            #expect(try await desk.deliveries(hook).count == 200)
            #expect(try await desk.count("deliveries WHERE state = 'pending'") == 140)
            for delay in [5, 300] {
                try await desk.pass(seconds: Int64(delay))
                try await desk.work()
            }
            #expect(try await desk.count("deliveries WHERE state = 'succeeded'") == 420)
            #expect(try await desk.count("jobs WHERE subject <> ''") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a subject's next event waits for the one before and nobody else does`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let (gate, open) = AsyncStream<Void>.makeStream()
            try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook) { received in
                if received.member("subject") == "ord_slow" && received.member("sequence") == "1" {
                    for await _ in gate { break }
                    return .failed(.timeout)
                }
                return .replied(status: 200)
            }
            for number in 0..<6 { try await desk.append(number % 2 == 0 ? "ord_slow" : "ord_quick") }
            async let work: Void = desk.work()
            await desk.endpoints.arrival(of: 4, at: GatewayFixture.hook)
            let before = desk.endpoints.received(GatewayFixture.hook)
            #expect(before.filter { $0.member("subject") == "ord_quick" }.count == 3)
            #expect(before.filter { $0.member("subject") == "ord_slow" }.count == 1)
            open.finish()
            try await work
            let slow = desk.endpoints.received(GatewayFixture.hook).filter { $0.member("subject") == "ord_slow" }
            #expect(slow.map { $0.member("sequence") } == ["1", "2", "3"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `clocks that disagree do not invert a subject`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.subscribe()
            // Each event of a subject is made by a node whose clock is behind the one before's.
            for number in 0..<30 {
                desk.clock.advance(seconds: -60)
                try await desk.append("ord_back", data: #"{"n":\#(number)}"#)
            }
            // The earliest ids come last in their subject, beyond what one batch reads by id.
            for number in 0..<600 { try await desk.append("ord_other\(number)") }
            desk.clock.advance(seconds: -7_200)
            for _ in 0..<3 { try await desk.append("ord_back") }
            try await desk.work()
            #expect(try await desk.count("events WHERE seq IS NULL") == 0)
            let order = desk.endpoints.received(GatewayFixture.hook).filter { $0.member("subject") == "ord_back" }
            #expect(order.map { $0.member("sequence") } == (1...33).map(String.init))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what follows events beyond a batch does not hold them up`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let subjects = (0..<700).map { "ord_\($0)" }
            try await desk.append(many: subjects)
            // The second of each, with ids that come before those of all the first.
            desk.clock.advance(seconds: -3_600)
            try await desk.append(many: subjects)
            try await desk.dispatch()
            let numbered = try await desk.store.read { db in
                try db.rows("SELECT subject, sequence FROM events ORDER BY seq").map { row in
                    (subject: try row.text("subject"), sequence: try row.int("sequence"))
                }
            }
            #expect(try await desk.count("events WHERE seq IS NULL") == 0)
            let bySubject = Dictionary(grouping: numbered, by: \.subject)
            #expect(bySubject.count == 700)
            #expect(bySubject.values.allSatisfy { $0.map(\.sequence) == [1, 2] })
        }
    }

    /// The dispatcher waits for a row of another endpoint, which a database with one writer never does.
    @Test(.timeLimit(.minutes(5)))
    func `who subscribed before an event gets it, also while the dispatcher waits`() async throws {
        try await withDesk(on: .postgres) { desk in
            let busy = try await desk.subscribe("https://busy.example/hook")
            let own = try desk.database.openAnother(retries: 0)
            let node = desk.node(store: own)
            try await desk.append("ord_a")
            try await desk.holding({ tx in _ = try tx.webhooks.lock(busy.id) }) { group in
                group.addTask { _ = try await node.events.dispatch() }
                try await desk.untilWaiting(1)
                _ = try await desk.subscribe("https://new.example/hook")
                try await desk.append("ord_b")
            }
            await own.engine.close()
            try await desk.work()
            func received(_ url: String) -> [String] { desk.endpoints.received(url).map { $0.member("subject") } }
            #expect(received("https://busy.example/hook") == ["ord_a", "ord_b"])
            #expect(received("https://new.example/hook") == ["ord_b"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the global numbers have no gap while many write`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask { for number in 0..<20 { try await desk.append("ord_\(writer)_\(number % 3)") } }
                }
                for _ in 0..<10 { group.addTask { try await desk.work() } }
                try await group.waitForAll()
            }
            try await desk.work()
            let numbers = try await desk.store.read { db in
                try db.rows("SELECT seq FROM events ORDER BY seq").map { try $0.int("seq") }
            }
            #expect(numbers == Array(1...160))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `scopes, types and partners decide who sees an event`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let urls = (0..<6).map { "https://hooks.example/\($0)" }
            try await desk.subscribe(urls[0])
            try await desk.subscribe(urls[1], types: [.orderPaid])
            try await desk.subscribe(urls[2], scopes: [.webhooksWrite, .ordersRead])
            try await desk.subscribe(urls[3], scopes: [.webhooksWrite])
            try await desk.subscribe(urls[4], partner: "other")
            try await desk.subscribe(urls[5], types: [.balanceOverdrawn], scopes: [.admin])
            try await desk.append("ord_ours", .orderPaid, partner: "acme")
            try await desk.append("ord_ours", .orderClosed, partner: "acme")
            try await desk.append("ord_all", .orderPaid)
            try await desk.append("ord_theirs", .orderPaid, partner: "other")
            try await desk.append("usr_x", .balanceOverdrawn)
            try await desk.work()
            func seen(_ url: String) -> [String] {
                desk.endpoints.received(url).map { "\($0.member("subject")) \($0.member("type"))" }.sorted()
            }
            let orders = ["ord_all order.paid", "ord_ours order.closed", "ord_ours order.paid"]
            #expect(seen(urls[0]) == orders + ["usr_x balance.overdrawn"])
            #expect(seen(urls[1]) == ["ord_all order.paid", "ord_ours order.paid"])
            #expect(seen(urls[2]) == orders)
            #expect(seen(urls[3]) == [])
            #expect(seen(urls[4]) == ["ord_all order.paid", "ord_theirs order.paid", "usr_x balance.overdrawn"])
            #expect(seen(urls[5]) == ["usr_x balance.overdrawn"])
        }
    }
}
