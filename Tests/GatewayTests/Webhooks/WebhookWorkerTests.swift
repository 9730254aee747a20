import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("The workers of webhooks")
struct WebhookWorkerTests {
    @Test(arguments: TestEngine.allCases)
    func `a hanging endpoint delays no other`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let (dead, healthy) = ("https://dead.example/", "https://healthy.example/")
            let (gate, open) = AsyncStream<Void>.makeStream()
            try await desk.subscribe(dead)
            try await desk.subscribe(healthy)
            desk.endpoints.answer(dead) { _ in
                for await _ in gate { break }
                return .failed(.timeout)
            }
            for number in 0..<300 { try await desk.append("ord_\(number)") }
            let runner = Task { try await JobRunner(gateway: desk.gateway).run() }
            await desk.endpoints.arrival(of: 300, at: healthy)
            // As many as one endpoint may have under way, and no more.
            await desk.endpoints.arrival(of: 16, at: dead)
            #expect(desk.endpoints.received(dead).count == 16)
            open.finish()
            await desk.endpoints.arrival(of: 300, at: dead)
            runner.cancel()
            _ = await runner.result
            try await desk.crash()
            try await desk.work()
            #expect(desk.endpoints.received(healthy).count(where: { $0.repetition == 0 }) == 300)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a worker that lost its lease writes nothing`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            for number in 0..<3 { try await desk.append("ord_a", data: #"{"n":\#(number)}"#) }
            try await desk.gateway.workFinder.prepare()
            for job in try await desk.gateway.jobQueue.claim([.dispatchEvents], limit: 1) {
                await desk.gateway.worker.perform(job)
            }
            let zombie = try #require(try await desk.gateway.jobQueue.claim([.deliverWebhook], limit: 1).first)
            let (taken, take) = AsyncStream<ClaimedJob>.makeStream()
            desk.endpoints.answer(GatewayFixture.hook) { received in
                if received.repetition == 0 && received.member("sequence") == "1" {
                    try? await desk.crash()
                    if let job = try? await desk.gateway.jobQueue.claim([.deliverWebhook], limit: 1).first {
                        take.yield(job)
                    }
                    take.finish()
                }
                return .replied(status: 200)
            }
            await desk.gateway.worker.perform(zombie)
            #expect(try await desk.count("deliveries WHERE state = 'pending' AND attempts = 0 AND first_done = 0") == 3)
            var next: ClaimedJob?
            for await job in taken { next = job }
            await desk.gateway.worker.perform(try #require(next))
            #expect(try await desk.deliveries(hook).map(\.status) == Array(repeating: "succeeded", count: 3))
            #expect(try await desk.deliveries(hook).map(\.attempts) == [1, 1, 1])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a run that must end early leaves the rest to the next one`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook) { received in
                if received.member("seq") == "1" { desk.clock.advance(seconds: 31) }
                return .replied(status: 200)
            }
            for number in 0..<60 { try await desk.append("ord_\(number)") }
            try await desk.work()
            #expect(desk.endpoints.received(GatewayFixture.hook).count == 60)
            #expect(try await desk.count("deliveries WHERE state = 'succeeded'") == 60)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an idle dispatcher commits nothing`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy()
            try await desk.work()
            let job = try #require(try await desk.gateway.jobQueue.claim(.dispatchEvents, subject: ""))
            let before = desk.store.engine.commits
            for _ in 0..<100 { _ = try await desk.gateway.events.dispatch() }
            #expect(desk.store.engine.commits == before)
            await desk.gateway.worker.perform(job)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a deleted webhook leaves nothing behind`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            try await desk.append("ord_a")
            try await desk.work()
            #expect(try await desk.count("jobs WHERE subject = ?", hook.id.rawValue) == 1)
            await expectNotFound {
                try await desk.gateway.webhooks.delete(
                    hook.id.rawValue, by: try await desk.partnerKey("other"), context: .test)
            }
            try await desk.gateway.webhooks.delete(
                hook.id.rawValue, by: try await desk.partnerKey(), context: .test)
            #expect(try await desk.count("deliveries") == 0)
            // The retry comes when it is due, and finds nothing.
            try await desk.pass(seconds: 5)
            try await desk.work()
            #expect(try await desk.count("jobs WHERE subject = ?", hook.id.rawValue) == 0)
            try await desk.append("ord_b")
            try await desk.work()
            #expect(desk.endpoints.received(GatewayFixture.hook).count == 1)
        }
    }

    /// A run holds its job, and then waits for the endpoint's row.
    @Test
    func `an endpoint is deleted without waiting for a run that holds its job`() async throws {
        try await withDesk(on: .postgres) { desk in
            let hook = try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            try await desk.append("ord_a")
            try await desk.work()
            let (node, key) = (try desk.database.openAnother(retries: 0), try await desk.partnerKey())
            try await desk.holding({ tx in
                let held = try tx.rows("SELECT id FROM jobs WHERE subject = ? FOR KEY SHARE", [hook.id])
                #expect(held.count == 1)
            }) { _ in
                try await desk.node(store: node).webhooks.delete(hook.id.rawValue, by: key, context: .test)
            }
            await node.engine.close()
            #expect(try await desk.count("webhooks") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `people are named by the app's ids, and the erased by none`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe(types: [.entitlementsChanged])
            try await desk.buy(user: "alice \"the\" é/1")
            try await desk.buy(user: "bob")
            try await desk.work()
            let received = desk.endpoints.received(GatewayFixture.hook)
            #expect(Set(received.map { $0.member("subject") }) == ["alice \"the\" é/1", "bob"])
            #expect(received.allSatisfy { !String(decoding: $0.body, as: UTF8.self).contains("usr_") })
            try await desk.store.write { tx in try tx.execute("DELETE FROM users WHERE external_id = 'bob'") }
            for delivery in try await desk.deliveries(hook) {
                _ = try await desk.gateway.webhooks.redeliver(
                    delivery.id.rawValue, by: try await desk.partnerKey(), context: .test)
            }
            try await desk.work()
            let again = desk.endpoints.received(GatewayFixture.hook).filter { $0.repetition == 1 }
            #expect(Set(again.map { $0.member("subject") }) == ["alice \"the\" é/1", "erased"])
        }
    }
}
