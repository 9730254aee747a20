import Domain
import HTTPTypes
import Store
import TestSupport
import Testing

@testable import Gateway
@testable import HTTPAPI

@Suite("The live streams of several nodes")
struct LiveNodeTests {
    @Test func `a change of another node is told by a message`() async throws {
        try await withNodes(2, on: .postgres) { nodes in
            let (here, there) = (nodes[0], nodes[1])
            let (live, signal) = (here.api.gateway.live, here.api.gateway.signals.live.signal)
            let asked = signal.asked
            let listening = Task { await live.listen() }
            // The connection counts as a change of everything.
            await signal.wait(since: asked)
            let stream = try await here.stream(try await here.token(), entitlements: .entitlements(0, next: nil))
            await live.pass()
            let heard = signal.asked
            let end = try await there.grant().int("expires_at")
            await there.api.gateway.live.pass()
            await signal.wait(since: heard)
            await live.pass()
            #expect(await stream.next() == .entitlements(1, next: end))
            listening.cancel()
            await listening.value
            live.close()
        }
    }

    @Test func `a change whose message was lost is found by its event`() async throws {
        try await withNodes(2, on: .postgres) { nodes in
            let (here, there) = (nodes[0], nodes[1])
            let live = here.api.gateway.live
            let token = try await here.token()
            let stream = try await here.stream(token, entitlements: .entitlements(0, next: nil))
            await live.pass()
            let end = try await there.grant().int("expires_at")
            let order = try await there.checkout(token, #","provider":"box-url""#).text("order_id")
            try await here.desk.work()
            await live.pass()
            try await here.desk.pass(seconds: 1)
            await live.pass()
            #expect(await stream.next() == .entitlements(1, next: end))
            #expect(await stream.next() == .order(order, "open", "pay"))
            live.close()
            #expect(await stream.rest() == [.bye("shutdown")])
        }
    }

    @Test func `messages say everything that changed`() throws {
        var changes = LiveChanges()
        let ids = IDSource(time: TimeSource { 1 }, random: RandomSource { (0..<$0).map { _ in .random(in: 0...255) } })
        for _ in 0..<400 {
            changes.users.insert(ids.make())
            changes.orders[ids.make()] = ids.make()
            changes.sessions.insert(ids.make())
            changes.erased.insert(ids.make())
        }
        let messages = changes.messages(from: "here", limit: StoreLimits.message)
        #expect(messages.count > 5 && messages.allSatisfy { $0.utf8.count <= StoreLimits.message })
        let read = messages.compactMap { LiveChanges(message: $0, to: "there") }
        #expect(read.reduce(into: LiveChanges()) { $0.merge($1) } == changes)
        #expect(LiveChanges(message: messages[0], to: "here") == nil)
        #expect(LiveChanges(message: "here\n*", to: "there")?.isEverything == true)
        #expect(LiveChanges(message: "here\nx y\nu nobody", to: "there")?.isEmpty == true)
        // Beyond a bound everything counts as changed.
        while !changes.isEverything {
            var more = LiveChanges()
            for _ in 0..<1_000 { more.users.insert(ids.make()) }
            changes.merge(more)
        }
        #expect(changes == .everything && changes.messages(from: "here", limit: 100) == ["here\n*"])
    }
}
