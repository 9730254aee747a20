import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Jobs: leases and ends")
struct JobLeaseTests {
    private static func ask(_ desk: GatewayFixture, _ kind: JobKind, _ subject: String, delay: Int64 = 0) async throws {
        let (id, now) = (desk.gateway.ids.make(Job.self), desk.clock.now)
        try await desk.store.write { tx in
            try tx.jobs.enqueue(id, kind: kind.rawValue, subject: subject, delay: delay, at: now)
        }
    }

    private static func job(_ desk: GatewayFixture, _ kind: JobKind, _ subject: String) async throws -> JobRecord? {
        let now = desk.clock.now
        return try await desk.store.read { db in
            try db.jobs.findID(kind: kind.rawValue, subject: subject).flatMap { try db.jobs.find($0, at: now) }
        }
    }

    /// The worker fell silent: its lease is over, and another takes the job.
    private static func steal(_ desk: GatewayFixture, _ kind: JobKind, _ subject: String) async throws -> ClaimedJob {
        try await desk.store.write { tx in try tx.execute("UPDATE jobs SET lease_until = 0") }
        return try #require(try await desk.gateway.jobQueue.claim(kind, subject: subject))
    }

    @Test(arguments: TestEngine.allCases)
    func `each job is claimed once by 32 claimers at once`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            for number in 0..<40 { try await Self.ask(desk, .reconcileRefund, "\(number)") }
            let other = engine == .postgres ? try desk.database.openAnother() : nil
            let nodes = [desk.gateway, desk.node(store: other ?? desk.store)]
            let claimed = try await withThrowingTaskGroup(of: [ClaimedJob].self) { group in
                for number in 0..<32 {
                    group.addTask {
                        let jobs = try await nodes[number % 2].jobQueue.claim(
                            [.reconcileRefund, .expireOrder], limit: 3)
                        #expect(jobs.count <= 3)
                        return jobs
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            await other?.engine.close()
            let rest = try await desk.gateway.jobQueue.claim([.reconcileRefund], limit: 50)
            #expect(Set((claimed + rest).map(\.id)).count == 40)
            #expect((claimed + rest).count == 40)
            #expect(try await desk.count("jobs WHERE lease_epoch = 1 AND attempts = 1") == 40)
            #expect(try await desk.gateway.jobQueue.claim([.reconcileRefund], limit: 50).isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a job is due at its time, of its kind, and the longest due first`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await Self.ask(desk, .reconcileRefund, "late", delay: 600)
            try await Self.ask(desk, .reconcileRefund, "soon", delay: 300)
            try await Self.ask(desk, .expireOrder, "other")
            #expect(try await desk.gateway.jobQueue.claim([.reconcileRefund], limit: 5).isEmpty)
            #expect(try await desk.gateway.jobQueue.claim([], limit: 5).isEmpty)
            try await desk.pass(seconds: 3_600)
            #expect(try await desk.gateway.jobQueue.claim([.reconcileRefund], limit: 1).map(\.subject) == ["soon"])
            #expect(try await desk.gateway.jobQueue.claim([.reconcileRefund], limit: 5).map(\.subject) == ["late"])
            // A lease that nobody kept alive is over after a minute.
            try await desk.pass(seconds: 59 - 5)
            #expect(try await desk.gateway.jobQueue.claim([.reconcileRefund], limit: 5).isEmpty)
            try await desk.pass(seconds: 10)
            let again = try await desk.gateway.jobQueue.claim([.reconcileRefund], limit: 5)
            #expect(again.map(\.attempt) == [2, 2])
        }
    }

    /// Otherwise a process that is ended some times in a minute would use up the attempts of whatever it was doing.
    @Test(arguments: TestEngine.allCases)
    func `a job whose runs end without a word waits longer each time`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await Self.ask(desk, .processNotification, "one")
            try await Self.ask(desk, .deliverWebhook, "one")
            let kinds: [JobKind] = [.processNotification, .deliverWebhook]
            for (attempt, wait) in zip(Int64(1)..., [0, 0, 5, 10, 20, 40, 80, 300] as [Int64]) {
                if wait > 0 {
                    try await desk.pass(seconds: wait - 1)
                    #expect(try await desk.gateway.jobQueue.claim([.processNotification], limit: 1).isEmpty)
                    try await desk.pass(seconds: 1)
                }
                // What nothing ends is due at once.
                let jobs = try await desk.gateway.jobQueue.claim(kinds, limit: 2)
                #expect(Set(jobs.map(\.kind)) == Set(kinds) && jobs.allSatisfy { $0.attempt == attempt })
                try await desk.store.write { tx in try tx.execute("UPDATE jobs SET lease_until = 0") }
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a worker whose lease was taken writes nothing and ends nothing`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            let id = try await desk.keepUnprocessed(contract, "late")
            try await Self.ask(desk, .processNotification, id.rawValue)
            let zombie = try #require(try await desk.gateway.jobQueue.claim(.processNotification, subject: id.rawValue))
            #expect(await desk.gateway.jobQueue.keepsLease(zombie))
            let holder = try await Self.steal(desk, .processNotification, id.rawValue)
            #expect(await desk.gateway.jobQueue.keepsLease(zombie) == false)
            await desk.gateway.worker.perform(zombie)
            #expect(try await desk.order(contract.order).status == .open)
            #expect(try await desk.count("notifications WHERE status = 'stored'") == 1)
            #expect(try await desk.count("grants") == 0)
            let ends: [Result<JobOutcome, GatewayError>] = [
                .success(.done), .success(.again(after: 9)), .success(.pending), .failure(.providerUnavailable),
                .failure(.internalError),
            ]
            for end in ends {
                await desk.gateway.jobQueue.perform(zombie) { (_) async throws(GatewayError) in try end.get() }
                let job = try #require(try await Self.job(desk, .processNotification, id.rawValue))
                #expect(job.epoch == 2 && job.isRunning && job.state == .waiting && job.attempts == 2)
                #expect(try await desk.count("notifications WHERE status = 'stored'") == 1)
            }
            await desk.gateway.worker.perform(holder)
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await Self.job(desk, .processNotification, id.rawValue) == nil)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a lease that is lost in the middle of a run undoes what comes after`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let first = try await desk.checkout(provider: "scripted")
            desk.scripted.say(try desk.payment(first), .succeeded(first.amount))
            let subject = try desk.payment(first).rawValue
            try await Self.ask(desk, .reconcilePayment, subject)
            let zombie = try #require(try await desk.gateway.jobQueue.claim(.reconcilePayment, subject: subject))
            let gate = Gate()
            desk.scripted.hold { await gate.pass() }
            async let run: Void = desk.gateway.worker.perform(zombie)
            await gate.arrivals()
            let holder = try await Self.steal(desk, .reconcilePayment, subject)
            gate.open()
            await run
            #expect(try await desk.order(first.order).status == .open)
            await desk.gateway.worker.perform(holder)
            #expect(try await desk.order(first.order).status == .paid)
            #expect(try await desk.count("jobs") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is asked for while a job runs is run again at once`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            for outcome in [JobOutcome.done, .again(after: 1_000)] {
                try await Self.ask(desk, .syncAccount, "box")
                let job = try #require(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 1).first)
                try await Self.ask(desk, .syncAccount, "box")
                #expect(try await desk.gateway.jobQueue.claim(.syncAccount, subject: "box") == nil)
                await desk.gateway.jobQueue.perform(job) { (_) async throws(GatewayError) in outcome }
                let again = try #require(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 1).first)
                #expect(again.id == job.id && again.attempt == 1)
                await desk.gateway.jobQueue.perform(again) { (_) async throws(GatewayError) in .done }
                #expect(try await desk.count("jobs") == 0)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `asking twice makes one job, due at the earlier time`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await Self.ask(desk, .syncAccount, "box", delay: 500)
            try await Self.ask(desk, .syncAccount, "box", delay: 900)
            #expect(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 1).isEmpty)
            try await Self.ask(desk, .syncAccount, "box")
            #expect(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 5).count == 1)
            #expect(try await desk.count("jobs") == 1)
        }
    }

    private static let longWait: [Int64] = [60, 300, 3_600, 21_600] + Array(repeating: 86_400, count: 7)
    static let schedules: [(JobKind, [Int64])] = [
        (.processNotification, [1, 5, 30, 300, 3_600, 21_600]), (.completeRequest, longWait),
        (.syncAccount, [60, 300, 3_600]),
    ]

    @Test(arguments: TestEngine.allCases, schedules)
    func `a failing job backs off and ends in quarantine`(
        _ engine: TestEngine, _ schedule: (kind: JobKind, delays: [Int64])
    ) async throws {
        try await withDesk(on: engine) { desk in
            try await Self.ask(desk, schedule.kind, "x")
            for (index, delay) in schedule.delays.enumerated() {
                let job = try #require(try await desk.gateway.jobQueue.claim(schedule.kind, subject: "x"))
                #expect(job.attempt == Int64(index + 1))
                let before = try await desk.databaseTime()
                let end: Result<JobOutcome, GatewayError> =
                    index.isMultiple(of: 2) ? .success(.pending) : .failure(.providerUnavailable)
                await desk.gateway.jobQueue.perform(job) { (_) async throws(GatewayError) in try end.get() }
                let after = try await desk.databaseTime()
                let record = try #require(try await Self.job(desk, schedule.kind, "x"))
                #expect((before + delay...after + delay).contains(record.runAt.rawValue))
                #expect(record.error == (index.isMultiple(of: 2) ? "not final yet" : "providerUnavailable"))
                #expect(!record.isRunning && record.state == .waiting)
            }
            let last = try #require(try await desk.gateway.jobQueue.claim(schedule.kind, subject: "x"))
            await desk.gateway.jobQueue.perform(last) { (_) async throws(GatewayError) in throw .providerUnavailable }
            #expect(try await Self.job(desk, schedule.kind, "x")?.state == .quarantined)
            #expect(try await desk.gateway.jobQueue.claim(schedule.kind, subject: "x") == nil)
            // Asking again does not take it out; an admin does.
            try await Self.ask(desk, schedule.kind, "x")
            #expect(try await desk.gateway.jobQueue.claim(schedule.kind, subject: "x") == nil)
        }
    }

    @Test(arguments: TestEngine.allCases, [JobKind.expireOrder, .reconcilePayment, .reconcileRefund])
    func `what waits for money is asked about again and again`(_ engine: TestEngine, _ kind: JobKind) async throws {
        try await withDesk(on: engine) { desk in
            let ends: [(end: Result<JobOutcome, GatewayError>, error: String)] = [
                (.success(.pending), "not final yet"), (.failure(.providerUnavailable), "providerUnavailable"),
            ]
            // At its end the schedule begins anew, after its longest pause.
            let pauses = Self.longWait + [86_400]
            for (end, error) in ends {
                try await Self.ask(desk, kind, error)
                for run in 0..<3 * pauses.count {
                    let job = try #require(try await desk.gateway.jobQueue.claim(kind, subject: error))
                    #expect(job.attempt == Int64(run % pauses.count + 1))
                    let before = try await desk.databaseTime()
                    await desk.gateway.jobQueue.perform(job) { (_) async throws(GatewayError) in try end.get() }
                    let record = try #require(try await Self.job(desk, kind, error))
                    #expect(record.state == .waiting && record.error == error && !record.isRunning)
                    #expect(record.runAt.rawValue == before + pauses[run % pauses.count])
                }
            }
        }
    }

    /// A worker takes the job and falls silent, so many times.
    private static func fallSilent(_ desk: GatewayFixture, _ kind: JobKind, _ subject: String, times: Int) async throws
    {
        for _ in 0..<times { _ = try await steal(desk, kind, subject) }
        try await desk.store.write { tx in try tx.execute("UPDATE jobs SET lease_until = 0") }
    }

    @Test(arguments: TestEngine.allCases, [JobKind.expireOrder, .reconcilePayment, .reconcileRefund])
    func `what waits for money is not given up for runs that end without a word`(
        _ engine: TestEngine, _ kind: JobKind
    ) async throws {
        try await withDesk(on: engine) { desk in
            try await Self.ask(desk, kind, "x")
            try await Self.fallSilent(desk, kind, "x", times: 20)
            for silent in 20..<22 {
                // By now it may be the job's own doing, so that it waits as long as it ever does.
                try await desk.pass(seconds: 86_399)
                #expect(try await desk.gateway.jobQueue.claim([kind], limit: 1).isEmpty)
                try await desk.pass(seconds: 1)
                let job = try #require(try await desk.gateway.jobQueue.claim([kind], limit: 1).first)
                // An admin sees in the list what becomes of it.
                #expect(try await Self.job(desk, kind, "x")?.error == "\(silent) runs ended without a result")
                #expect(job.attempt == Int64(silent + 1))
                try await desk.store.write { tx in try tx.execute("UPDATE jobs SET lease_until = 0") }
            }
            let last = try await Self.steal(desk, kind, "x")
            await desk.gateway.jobQueue.perform(last) { (_) async throws(GatewayError) in .done }
            #expect(try await desk.count("jobs") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases, [JobKind.syncAccount, .completeRequest, .processNotification])
    func `only runs in a row that end without a word are counted as such`(
        _ engine: TestEngine, _ kind: JobKind
    ) async throws {
        try await withDesk(on: engine) { desk in
            for silent in [11, 12] {
                try await Self.ask(desk, kind, "x")
                for _ in 0..<3 {
                    let job = try #require(try await desk.gateway.jobQueue.claim(kind, subject: "x"))
                    await desk.gateway.jobQueue.perform(job) { (_) async throws(GatewayError) in .pending }
                }
                try await Self.fallSilent(desk, kind, "x", times: silent)
                let job = try await Self.steal(desk, kind, "x")
                await desk.gateway.jobQueue.perform(job) { (_) async throws(GatewayError) in .done }
                let record = try await Self.job(desk, kind, "x")
                #expect(record?.state == (silent == 11 ? nil : .quarantined))
                #expect(record?.error == (silent == 11 ? nil : "12 runs ended without a result"))
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a mistake of ours is quarantined at once, and a good run starts the count anew`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            try await Self.ask(desk, .syncAccount, "x")
            func run(_ end: Result<JobOutcome, GatewayError>) async throws {
                let job = try #require(try await desk.gateway.jobQueue.claim(.syncAccount, subject: "x"))
                await desk.gateway.jobQueue.perform(job) { (_) async throws(GatewayError) in try end.get() }
            }
            try await run(.failure(.providerUnavailable))
            try await run(.success(.again(after: 5)))
            #expect(try await Self.job(desk, .syncAccount, "x")?.attempts == 0)
            #expect(try await Self.job(desk, .syncAccount, "x")?.error == "")
            try await run(.failure(.internalError))
            #expect(try await Self.job(desk, .syncAccount, "x")?.state == .quarantined)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a standing job goes on for ever`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            for _ in 0..<2 { try await desk.gateway.workFinder.prepare() }
            #expect(try await desk.count("jobs") == Int64(JobKind.standing.count))
            for _ in 0..<12 {
                let job = try #require(try await desk.gateway.jobQueue.claim(.findWork, subject: ""))
                await desk.gateway.jobQueue.perform(job) { (_) async throws(GatewayError) in throw .providerUnavailable
                }
            }
            let record = try #require(try await Self.job(desk, .findWork, ""))
            #expect(record.state == .waiting && record.attempts == 12)
            try await desk.work()
            #expect(try await Self.job(desk, .findWork, "")?.attempts == 12)
            try await desk.pass(seconds: 60)
            try await desk.work()
            #expect(try await Self.job(desk, .findWork, "")?.attempts == 0)
        }
    }

    @Test
    func `every kind has its lane, and only one for each state of an endpoint`() {
        let grace = DeliverySchedule.failingGrace
        for kind in JobKind.allCases {
            let lanes = JobRunner.Lane.all.filter { $0.kinds.contains(kind) }.map(\.endpoints)
            let isDelivering = kind == .deliverWebhook || kind == .retryDeliveries
            #expect(lanes == (isDelivering ? [.healthy(grace: grace), .failing(grace: grace)] : [.any]), "\(kind)")
        }
    }
}

extension GatewayFixture {
    /// A verified notification of a contract's success that is stored and has no job, as after a crash.
    func keepUnprocessed(_ contract: PaymentContract, _ eventID: String) async throws -> ID<Domain.Notification> {
        let fact = ProviderFact.payment(
            PaymentReport(payment: try payment(contract), outcome: .succeeded(contract.amount)))
        let record = NotificationRecord(
            id: gateway.ids.make(), account: try .test(contract.provider?.rawValue ?? ""), eventID: eventID,
            type: "payment.succeeded", facts: try [fact].storedJSON(), body: .init(), headers: .init(),
            digest: .init(), receivedAt: clock.now)
        return try await store.write { tx in try tx.notifications.insert(record).id }
    }
}
