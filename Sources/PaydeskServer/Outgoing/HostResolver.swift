import Domain
import Foundation
import Synchronization

/// Resolves hosts' addresses by the system, on threads of its own, because a slow name server must not block Swift's.
///
/// A host is looked up once for all that wait for it, only a few hosts at a time, and a host without an answer is not
/// looked up again for a while, so that dead name servers cost only some threads.
final class HostResolver: Sendable {
    /// The time that a caller waits for an answer.
    static let patience = Duration.seconds(5)
    /// The most lookups at a time.
    static let width = 16
    /// The time during which a host without an answer is not looked up again.
    static let silence = Duration.seconds(10)

    private struct Lookup {
        var waiting: [Int: AsyncStream<[IPAddress]>.Continuation] = [:]
        var isAsked = false
    }

    private struct State {
        var lookups: [String: Lookup] = [:]
        /// Hosts whose lookup waits for another to end.
        var queue: [String] = []
        var outstanding = 0
        /// The time until which a host counts as having no answer.
        var silent: [String: ContinuousClock.Instant] = [:]
        var lastWaiter = 0

        /// Takes the hosts whose lookups may begin.
        mutating func startable() -> [String] {
            let hosts = Array(queue.prefix(max(0, HostResolver.width - outstanding)))
            queue.removeFirst(hosts.count)
            outstanding += hosts.count
            for host in hosts { lookups[host]?.isAsked = true }
            return hosts
        }

        mutating func note(_ host: String, hasAnswer: Bool, at now: ContinuousClock.Instant) {
            if silent.count >= 1_000 { silent = silent.filter { $0.value > now } }
            silent[host] = hasAnswer ? nil : now + HostResolver.silence
        }
    }

    private let state = Mutex(State())
    private let ask: @Sendable (String) -> [IPAddress]
    private let now: @Sendable () -> ContinuousClock.Instant
    private let pause: @Sendable (Duration) async -> Void

    init(
        ask: @escaping @Sendable (String) -> [IPAddress] = SystemNames.addresses,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        self.ask = ask
        self.now = now
        self.pause = pause
    }

    /// Returns every address of a host, the preferred one first; empty where there is none or no answer in time.
    func addresses(of host: String) async -> [IPAddress] {
        if let literal = IPAddress(host) { return [literal] }
        let (answers, answer) = AsyncStream<[IPAddress]>.makeStream()
        guard let waiter = join(host, answer) else { return [] }
        let found = await withTaskGroup(of: [IPAddress]?.self) { group in
            group.addTask {
                for await found in answers { return found }
                return nil
            }
            group.addTask { [pause] in
                await pause(Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        if let found { return found }
        leave(host, waiter, isLate: !Task.isCancelled)
        return []
    }

    /// The number of hosts that are being looked up or wait for it.
    var hosts: Int { state.withLock { $0.lookups.count } }
    func waiting(for host: String) -> Int { state.withLock { $0.lookups[host]?.waiting.count ?? 0 } }

    /// - Returns: nil where the host had no answer a short time ago.
    private func join(_ host: String, _ answer: AsyncStream<[IPAddress]>.Continuation) -> Int? {
        let now = now()
        let (waiter, hosts) = state.withLock { state -> (Int?, [String]) in
            if let until = state.silent[host], until > now { return (nil, []) }
            state.lastWaiter += 1
            if state.lookups[host] == nil { state.queue.append(host) }
            state.lookups[host, default: Lookup()].waiting[state.lastWaiter] = answer
            return (state.lastWaiter, state.startable())
        }
        begin(hosts)
        return waiter
    }

    /// Removes a waiting caller; a lookup that has begun continues on its own thread.
    private func leave(_ host: String, _ waiter: Int, isLate: Bool) {
        let now = now()
        state.withLock { state in
            guard state.lookups[host]?.waiting.removeValue(forKey: waiter) != nil, let lookup = state.lookups[host]
            else { return }
            if lookup.isAsked {
                if isLate { state.note(host, hasAnswer: false, at: now) }
            } else if lookup.waiting.isEmpty {
                state.lookups[host] = nil
                state.queue.removeAll { $0 == host }
            }
        }
    }

    private func begin(_ hosts: [String]) {
        for host in hosts {
            let thread = Thread { [self] in end(host, ask(host)) }
            thread.start()
        }
    }

    private func end(_ host: String, _ found: [IPAddress]) {
        let now = now()
        let (lookup, hosts) = state.withLock { state -> (Lookup?, [String]) in
            state.outstanding -= 1
            state.note(host, hasAnswer: !found.isEmpty, at: now)
            return (state.lookups.removeValue(forKey: host), state.startable())
        }
        for answer in lookup?.waiting.values ?? [:].values {
            answer.yield(found)
            answer.finish()
        }
        begin(hosts)
    }
}
