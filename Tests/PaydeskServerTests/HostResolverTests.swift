import Domain
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PaydeskServer

@Suite("Asking for hosts' addresses")
struct HostResolverTests {
    /// A name server that answers when the test allows it, with a clock that the test moves.
    private final class NameServer: Sendable {
        private struct State {
            var asked: [String] = []
            var now = ContinuousClock.now
            var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        }

        private let state = Mutex(State())
        private let replies = DispatchSemaphore(value: 0)
        let isSlow: Bool

        init(isSlow: Bool) { self.isSlow = isSlow }

        var asked: [String] { state.withLock { $0.asked } }
        var now: ContinuousClock.Instant { state.withLock { $0.now } }

        /// Blocks like the system's resolver; names that end in `.dead` have no address.
        func addresses(_ host: String) -> [IPAddress] {
            let reached = state.withLock { state in
                state.asked.append(host)
                let reached = state.watchers.filter { $0.count <= state.asked.count }
                state.watchers.removeAll { $0.count <= state.asked.count }
                return reached
            }
            for watcher in reached { watcher.continuation.resume() }
            if isSlow { replies.wait() }
            return host.hasSuffix(".dead") ? [] : [.v4(0x0808_0808)]
        }

        func reply(_ count: Int) { for _ in 0..<count { replies.signal() } }
        func pass(_ duration: Duration) { state.withLock { $0.now += duration } }

        /// Returns after this many queries have arrived.
        func questions(_ count: Int) async {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.asked.count < count { state.watchers.append((count, continuation)) }
                    return state.asked.count >= count
                }
                if isThere { continuation.resume() }
            }
        }

        func resolver(_ pause: @escaping @Sendable (Duration) async -> Void = Pauses.forever) -> HostResolver {
            HostResolver(ask: addresses, now: { self.now }, pause: pause)
        }
    }

    @Test func `a host is asked about once however many wait`() async {
        let server = NameServer(isSlow: true)
        let resolver = server.resolver()
        let waiting = Gate()
        await withTaskGroup(of: [IPAddress].self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await waiting.pass()
                    return await resolver.addresses(of: "one.example")
                }
            }
            await waiting.arrivals(50)
            waiting.open()
            await server.questions(1)
            while resolver.waiting(for: "one.example") < 50 { await Task.yield() }
            server.reply(1)
            for await found in group { #expect(found == [.v4(0x0808_0808)]) }
        }
        #expect(server.asked == ["one.example"])
    }

    @Test func `so many hosts are asked about at once and no more, and each gets its answer`() async {
        let server = NameServer(isSlow: true)
        let resolver = server.resolver()
        await withTaskGroup(of: [IPAddress].self) { group in
            for number in 0..<40 { group.addTask { await resolver.addresses(of: "host\(number).example") } }
            while resolver.hosts < 40 { await Task.yield() }
            await server.questions(HostResolver.width)
            #expect(server.asked.count == HostResolver.width)
            server.reply(40)
            for await found in group { #expect(!found.isEmpty) }
        }
        #expect(server.asked.count == 40 && Set(server.asked).count == 40)
    }

    @Test(arguments: ["gone.dead", "here.example"])
    func `only a host without an answer is left alone for a moment`(_ host: String) async {
        let server = NameServer(isSlow: false)
        let resolver = server.resolver()
        for _ in 0..<3 { _ = await resolver.addresses(of: host) }
        let isDead = host.hasSuffix(".dead")
        #expect(server.asked.count == (isDead ? 1 : 3))
        server.pass(HostResolver.silence + .seconds(1))
        _ = await resolver.addresses(of: host)
        #expect(server.asked.count == (isDead ? 2 : 4))
    }

    @Test func `who has waited long enough goes, and a silent host is not asked about again at once`() async {
        let server = NameServer(isSlow: true)
        let patience = Gate()
        let resolver = server.resolver { _ in await patience.pass() }
        async let first = resolver.addresses(of: "slow.example")
        await server.questions(1)
        await patience.arrivals()
        patience.open()
        #expect(await first == [])
        #expect(await resolver.addresses(of: "slow.example") == [])
        #expect(server.asked == ["slow.example"])
        server.reply(1)
        while resolver.hosts > 0 { await Task.yield() }
    }

    @Test func `who gives up in the queue leaves no question behind`() async {
        let server = NameServer(isSlow: true)
        let patience = Gate()
        let resolver = server.resolver { _ in await patience.pass() }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<(HostResolver.width + 5) {
                group.addTask { _ = await resolver.addresses(of: "host\(number).example") }
            }
            while resolver.hosts < HostResolver.width + 5 { await Task.yield() }
            await server.questions(HostResolver.width)
            patience.open()
        }
        #expect(resolver.hosts == HostResolver.width)
        server.reply(HostResolver.width)
        while resolver.hosts > 0 { await Task.yield() }
        #expect(server.asked.count == HostResolver.width)
    }
}
