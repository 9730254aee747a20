import ProviderKit
import ServiceLifecycle
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Jobs: the worker")
struct JobRunnerTests {
    @Test(arguments: TestEngine.allCases)
    func `the worker finds what is due, runs it, and finishes it before it stops`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            desk.scripted.say(try desk.payment(contract), .succeeded(contract.amount))
            try await desk.pass(seconds: 60)
            let gate = Gate()
            desk.scripted.hold { await gate.pass() }
            let group = ServiceGroup(services: [JobRunner(gateway: desk.gateway)], logger: desk.gateway.logger)
            let running = Task { try await group.run() }
            await gate.arrivals()
            #expect(try await desk.count("jobs WHERE kind = 'reconcile_payment' AND lease_until > 0") == 1)
            await group.triggerGracefulShutdown()
            gate.open()
            try await running.value
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.count("jobs WHERE subject <> ''") == 0)
            #expect(try await desk.count("jobs WHERE lease_until > 0") == 0)
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: TestEngine.allCases)
    func `a sync goes no further once the process is to stop`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            for _ in 0..<2 {
                let contract = try await desk.checkout(provider: "scripted")
                desk.scripted.say(try desk.payment(contract), .succeeded(contract.amount))
            }
            let (id, now, gate) = (desk.gateway.ids.make(Job.self), desk.clock.now, Gate())
            try await desk.store.write { tx in
                try tx.jobs.enqueue(id, kind: JobKind.syncAccount.rawValue, subject: "scripted", delay: 0, at: now)
            }
            desk.scripted.hold {
                await gate.pass()
                while !Task.isShuttingDownGracefully { await Task.yield() }
            }
            let group = ServiceGroup(services: [JobRunner(gateway: desk.gateway)], logger: desk.gateway.logger)
            let running = Task { try await group.run() }
            await gate.arrivals()
            gate.open()
            await group.triggerGracefulShutdown()
            try await running.value
            // The order of the query under way is settled, and the next run does the rest.
            #expect(try await desk.count("orders WHERE state = 'paid'") == 1)
            #expect(try await desk.count("jobs WHERE id = ?", id.rawValue) == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the worker runs at once what is asked for while it waits`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let gate = Gate()
            desk.scripted.hold { await gate.pass() }
            let contract = try await desk.checkout(provider: "scripted")
            let group = ServiceGroup(services: [JobRunner(gateway: desk.gateway)], logger: desk.gateway.logger)
            let running = Task { try await group.run() }
            let (id, now) = (desk.gateway.ids.make(Job.self), desk.clock.now)
            let subject = try desk.payment(contract).rawValue
            try await desk.store.write { tx in
                try tx.jobs.enqueue(id, kind: JobKind.reconcilePayment.rawValue, subject: subject, delay: 0, at: now)
            }
            desk.gateway.signals.workers.notify()
            await gate.arrivals()
            gate.open()
            await group.triggerGracefulShutdown()
            try await running.value
            #expect(try await desk.payments(contract.order).map(\.payment.state) == [.pending])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the worker finds by looking what another node asked for, and what time alone makes due`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let (gate, look) = (Gate(), Gate())
            desk.scripted.hold { await gate.pass() }
            let contract = try await desk.checkout(provider: "scripted")
            let (id, now) = (desk.gateway.ids.make(Job.self), desk.clock.now)
            let subject = try desk.payment(contract).rawValue
            try await desk.store.write { tx in
                try tx.jobs.enqueue(id, kind: JobKind.reconcilePayment.rawValue, subject: subject, delay: 30, at: now)
            }
            // Half a second between two searches, or up to five where only this process writes.
            let node = desk.node { duration in
                if duration <= .seconds(5) { await look.pass() } else { await Pauses.forever(duration) }
            }
            let lanes = [
                JobRunner.Lane(kinds: [.reconcilePayment], width: 1), JobRunner.Lane(kinds: [.expireOrder], width: 1),
            ]
            let group = ServiceGroup(services: [JobRunner(gateway: node, lanes: lanes)], logger: node.logger)
            let running = Task { try await group.run() }
            await look.arrivals()
            #expect(try await desk.count("jobs WHERE kind = 'reconcile_payment' AND lease_until > 0") == 0)
            try await desk.pass(seconds: 31)
            look.open()
            await gate.arrivals()
            #expect(try await desk.count("jobs WHERE kind = 'reconcile_payment' AND lease_until > 0") == 1)
            gate.open()
            await group.triggerGracefulShutdown()
            try await running.value
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `kinds are due whose jobs are due and run by nobody`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let (ids, now) = (desk.gateway.ids, desk.clock.now)
            try await desk.store.write { tx in
                for (kind, delay) in [(JobKind.syncAccount, Int64(0)), (.expireOrder, 0), (.checkReceipt, 30)] {
                    for subject in ["a", "b"] {
                        try tx.jobs.enqueue(ids.make(), kind: kind.rawValue, subject: subject, delay: delay, at: now)
                    }
                }
            }
            let kinds: [JobKind] = [.syncAccount, .checkReceipt, .endDeliveries]
            #expect(try await desk.gateway.jobQueue.dueKinds(of: kinds) == [.syncAccount])
            #expect(try await desk.gateway.jobQueue.dueKinds(of: []) == [])
            _ = try await desk.gateway.jobQueue.claim([.syncAccount], limit: 1)
            #expect(try await desk.gateway.jobQueue.dueKinds(of: kinds) == [.syncAccount])
            _ = try await desk.gateway.jobQueue.claim([.syncAccount], limit: 1)
            #expect(try await desk.gateway.jobQueue.dueKinds(of: kinds) == [])
            try await desk.pass(seconds: 31)
            #expect(try await desk.gateway.jobQueue.dueKinds(of: kinds) == [.checkReceipt])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a run whose lease was taken is let go by its worker and keeps nothing`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            desk.scripted.say(try desk.payment(contract), .succeeded(contract.amount))
            try await desk.pass(seconds: 60)
            let (gate, heartbeat) = (Gate(), Gate())
            desk.scripted.hold { await gate.pass() }
            // A worker extends its leases every quarter of a minute; here, when the test allows it.
            let node = desk.node { duration in
                if duration == .seconds(15) { await heartbeat.pass() } else { await Pauses.forever(duration) }
            }
            let lanes = [
                JobRunner.Lane(kinds: [.findWork], width: 1), JobRunner.Lane(kinds: [.reconcilePayment], width: 1),
            ]
            let group = ServiceGroup(services: [JobRunner(gateway: node, lanes: lanes)], logger: node.logger)
            let running = Task { try await group.run() }
            await gate.arrivals()
            try await desk.store.write { tx in try tx.execute("UPDATE jobs SET lease_until = 0") }
            let subject = try desk.payment(contract).rawValue
            let holder = try #require(try await desk.gateway.jobQueue.claim(.reconcilePayment, subject: subject))
            heartbeat.open()
            await group.triggerGracefulShutdown()
            gate.open()
            try await running.value
            #expect(try await desk.order(contract.order).status == .open)
            await desk.gateway.worker.perform(holder)
            #expect(try await desk.order(contract.order).status == .paid)
        }
    }

    @Test
    func `a worker that starts while its database is away begins when it is there`() async throws {
        try await withDesk(on: .postgres) { desk in
            let proxy = try PostgresProxy(to: PostgresCluster.running().port)
            defer { proxy.stop() }
            proxy.stop()
            let store = try desk.database.openAnother(through: proxy)
            let node = desk.node(store: store) { _ in
                // The first pause is the one before the next search; a connection that has just failed may need another
                // one.
                _ = try? proxy.restart()
                await Task.yield()
            }
            let group = ServiceGroup(services: [JobRunner(gateway: node)], logger: node.logger)
            let running = Task { try await group.run() }
            while try await desk.count("jobs WHERE kind = 'find_work'") == 0 { await Task.yield() }
            await group.triggerGracefulShutdown()
            try await running.value
            await store.engine.close()
        }
    }

    @Test
    func `a signal reaches who waits, and who looks away for a moment`() async {
        let signal = JobSignal()
        let seen = signal.asked
        signal.notify()
        await signal.wait(since: seen)
        await signal.wait(since: seen)
        let now = signal.asked
        let waiting = Task { await signal.wait(since: now) }
        let cancelled = Task { await signal.wait(since: now) }
        cancelled.cancel()
        await cancelled.value
        signal.notify()
        await waiting.value
        #expect(signal.asked == now + 1)
    }
}

@Suite("Jobs: the search for what is due")
struct JobSearchTests {
    @Test func `it tells the time until the next job, to the millisecond`() async throws {
        try await withDesk(on: .sqlite) { desk in
            let (id, now) = (desk.gateway.ids.make(Job.self), desk.clock.now)
            try await desk.store.write { tx in
                try tx.jobs.enqueue(id, kind: JobKind.syncAccount.rawValue, subject: "scripted", delay: 3, at: now)
            }
            let later = try await desk.gateway.jobQueue.search(for: [.syncAccount])
            #expect(later.due.isEmpty)
            let fraction = desk.gateway.time.real.milliseconds() % 1_000
            #expect(later.next == .milliseconds(3_000 - fraction))
            #expect(try await desk.gateway.jobQueue.search(for: [.sealAudit]).next == nil)
            try await desk.pass(seconds: 3)
            #expect(try await desk.gateway.jobQueue.search(for: [.syncAccount]).due == [.syncAccount])
        }
    }
}
