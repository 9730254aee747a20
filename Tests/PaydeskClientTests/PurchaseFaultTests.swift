import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PaydeskClient

/// A device with its storefront, its clock and its way to a server, in this process.
struct TestDevice: Sendable {
    let server: DeskServer
    let time = TestTime()
    let transport = FaultyTransport()
    let storefront: TestStorefront
    let login = LoginState()
    let folder: URL

    init(_ server: DeskServer, products: [StoreProduct] = []) {
        self.server = server
        storefront = TestStorefront(products)
        folder = server.folder.appendingPathComponent("device-\(UUID().uuidString)")
    }

    var desk: Paydesk {
        let login = login
        return server.desk(
            {
                guard let token = await login.token else { throw PaydeskError.loggedOut }
                return token
            }, in: folder, time: time.time, transport: transport)
    }

    /// The queue as the app makes it at its start.
    func queue(
        _ step: @escaping @Sendable (PurchaseStep) throws -> Void = { _ in }
    ) -> PurchaseCoordinator<TestStorefront> {
        PurchaseCoordinator(desk: desk, storefront: storefront, jitter: { _ in 0 }, step: step)
    }

    var files: DurableFolder { DurableFolder(url: desk.folder.appendingPathComponent("purchases")) }

    func records() throws -> [PurchaseRecord] {
        try files.names().map { name in
            try JSONDecoder().decode(PurchaseRecord.self, from: try #require(try files.read(name)))
        }
    }

    /// Runs the body while the queue works.
    func running(
        _ queue: PurchaseCoordinator<TestStorefront>, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Void
    ) async throws {
        let work = Task { await queue.run() }
        let result: Result<Void, any Error>
        do {
            try await body()
            result = .success(())
        } catch { result = .failure(error) }
        work.cancel()
        await work.value
        try result.get()
    }

    /// Moves the clock from pause to pause until the queue is empty.
    ///
    /// - Returns: the pauses in seconds.
    func drain(_ queue: PurchaseCoordinator<TestStorefront>) async throws -> [Int64] {
        var pauses: [Int64] = []
        while !(await queue.waiting().isEmpty) {
            try #require(pauses.count < 200)
            pauses.append(try await time.advanceToNext())
            // The clock stands while the queue works.
            try await eventually("the queue waits again") {
                let waiting = await queue.waiting()
                return waiting.isEmpty || waiting.allSatisfy { $0.nextAt > time.now }
            }
        }
        return pauses
    }
}

@Suite("The queue of purchases, with a server that fails")
struct PurchaseFaultTests {
    /// The faults of the first attaches, and the pauses that follow them.
    static let faults: [(faults: [FaultyTransport.Fault], pauses: [Int64])] = [
        ([.away, .away, .away], [1, 2, 4]),
        ([.loseReply, .loseReply], [1, 2]),
        ([.status(500), .status(503, retryAfter: 17), .status(502)], [1, 17, 4]),
        ([.status(429, retryAfter: 9)], [9]),
        // A hotel's login page is no answer, though it says 200.
        ([.page(200), .page(200)], [1, 2]),
        ([.away, .loseReply, .status(500, retryAfter: 0), .page(200)], [1, 2, 1, 8]),
    ]

    @Test func `a purchase waits, comes to the server once, and is finished then only`() async throws {
        try await DeskServer.with { server in
            for (number, (faults, pauses)) in Self.faults.enumerated() {
                let (device, user) = (TestDevice(server), "user\(number)")
                await device.login.set(user)
                let sale = try await server.sell(to: user)
                await device.storefront.prepare(sale.transaction)
                await device.transport.order(faults)
                let queue = device.queue()
                #expect(try await queue.purchase(sale.product) == .kept)
                #expect(await device.storefront.finished == [])
                #expect(try device.records().map(\.user) == [user])
                if number == 0 { #expect(try await server.orders(user) == 0, "it came by another way") }
                try await device.running(queue) {
                    let waited = try await device.drain(queue)
                    #expect(waited.filter { $0 > 0 } == pauses, "\(number)")
                }
                #expect(await device.storefront.finished == [sale.id])
                #expect(try device.records() == [])
                #expect(try await server.orders(user) == 1)
                #expect(try await server.desk(of: user).entitlements().owns("vip_month"))
            }
        }
    }

    @Test func `a server that is away for an hour is asked less and less, and never given up`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let sale = try await server.sell(to: "alice")
            await device.storefront.keep(sale.transaction)
            await device.transport.order([], then: .away)
            let (queue, start) = (device.queue(), device.time.now)
            try await device.running(queue) {
                var pauses: [Int64] = []
                while device.time.now < start + 3_600 {
                    let tries = await device.transport.attaches.count
                    pauses.append(try await device.time.advanceToNext())
                    try await eventually("another try") {
                        let next = await queue.waiting().first?.nextAt ?? 0
                        guard next > device.time.now else { return false }
                        return await device.transport.attaches.count > tries
                    }
                }
                #expect(Array(pauses.prefix(10)) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300])
                #expect(Set(pauses.dropFirst(9)) == [300])
                #expect(await device.storefront.finished == [])
                await device.transport.order([])
                _ = try await device.drain(queue)
            }
            #expect(await device.storefront.finished == [sale.id])
            #expect(try await server.orders("alice") == 1)
        }
    }

    /// The server dies before the request, during it, or after it has stored the purchase.
    @Test(arguments: ["before", "during", "after"])
    func `a server that is killed has the purchase once when it is back`(_ moment: String) async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            for round in 0..<(moment == "during" ? 6 : 1) {
                let killing = Mutex<Task<Void, any Error>?>(nil)
                let sale = try await server.sell("com.example.coins", to: "alice")
                await device.storefront.prepare(sale.transaction)
                let kill: FaultyTransport.Fault =
                    switch moment {
                    case "before": .before { try await server.kill() }
                    case "after": .after { try await server.kill() }
                    default:
                        .before {
                            let task = Task {
                                for _ in 0..<(round * 2_000) { await Task.yield() }
                                try await server.kill()
                            }
                            killing.withLock { $0 = task }
                        }
                    }
                await device.transport.order([kill])
                let queue = device.queue()
                let outcome = try await queue.purchase(sale.product)
                if moment != "during" { #expect(outcome == .kept) }
                try await killing.withLock(\.self)?.value
                try await server.kill()
                try await server.start()
                try await device.running(queue) { _ = try await device.drain(queue) }
                #expect(await device.storefront.finished.last == sale.id)
                let owned = try await server.desk(of: "alice").entitlements()
                #expect(owned.balances["coins"] ?? 0 == 0, "box purchases are Sandbox's")
                #expect(try await server.orders("alice") == round + 1)
            }
        }
    }

    @Test func `a refusal is kept, reported, not finished, and sent again at the next start`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let sale = try await server.sell(to: "alice")
            let broken = StoreTransaction(
                id: sale.id, productID: sale.product, jws: String(sale.jws.dropLast(8)) + "AAAAAAAA",
                appAccountToken: sale.token)
            await device.storefront.prepare(broken)
            let queue = device.queue()
            guard case .refused(let refusal) = try await queue.purchase(sale.product) else {
                Issue.record("the server took a broken signature")
                return
            }
            #expect(refusal.error == .invalidTransaction)
            #expect(try device.records().map(\.state) == [.refused])
            try await device.running(queue) {
                await queue.retryNow()
                #expect(await device.transport.attaches.count == 1)
            }
            let later = device.queue()
            let events = await later.events()
            try await device.running(later) {
                for await event in events {
                    if case .refused = event { break }
                }
            }
            #expect(await device.transport.attaches.count == 2)
            #expect(await device.storefront.finished == [])
        }
    }

    /// Answers to an attach, and what becomes of the purchase: its state, or nil where it is finished.
    static let answers: [(status: Int, error: String, state: String?)] = [
        (404, "unknown_product", nil), (409, "purchase_revoked", nil), (404, "not_found", "refused"),
        (409, "conflict", "refused"), (403, "forbidden", "refused"), (413, "payload_too_large", "refused"),
        (400, "a_new_word", "refused"), (409, "request_in_progress", "waiting"), (429, "rate_limited", "waiting"),
        (503, "temporarily_unavailable", "waiting"), (404, "", "waiting"), (403, "", "waiting"), (302, "", "waiting"),
    ]

    @Test func `an answer decides what becomes of a purchase`() async throws {
        try await DeskServer.with { server in
            for (status, error, state) in Self.answers {
                let device = TestDevice(server)
                await device.login.set("alice")
                let sale = try await server.sell(to: "alice")
                await device.storefront.prepare(sale.transaction)
                await device.transport.order([error.isEmpty ? .page(status) : .status(status, error: error)])
                _ = try await device.queue().purchase(sale.product)
                #expect(try device.records().map(\.state.rawValue) == (state.map { [$0] } ?? []), "\(status) \(error)")
                #expect(await device.storefront.finished == (state == nil ? [sale.id] : []), "\(status) \(error)")
            }
        }
    }

    @Test func `a purchase that was taken back is finished`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let sale = try await server.sell(to: "alice")
            _ = try await server.desk(of: "alice").restore([sale.jws])
            try await server.deliver("normal")
            try await server.refund(sale.id)
            await device.storefront.keep(sale.transaction)
            let queue = device.queue()
            try await device.running(queue) {
                try await eventually("it is finished") { await device.storefront.finished == [sale.id] }
            }
            #expect(try await server.desk(of: "alice").entitlements().owns("vip_month") == false)
        }
    }

    @Test func `one transaction from two paths is one`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let sale = try await server.sell(to: "alice")
            await device.storefront.prepare(sale.transaction)
            await device.storefront.keep(sale.transaction)
            let queue = device.queue()
            try await device.running(queue) {
                async let bought = queue.purchase(sale.product)
                for _ in 0..<5 { await device.storefront.bring(sale.transaction) }
                _ = try await bought
                _ = try await device.drain(queue)
                try await eventually("it is finished") { await device.storefront.finished.contains(sale.id) }
            }
            #expect(Set(await device.storefront.finished) == [sale.id])
            #expect(try await server.orders("alice") == 1)
            #expect(try device.records() == [])
        }
    }

    @Test func `a full disk loses nothing`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let sale = try await server.sell(to: "alice")
            await device.storefront.prepare(sale.transaction)
            let isFull = Mutex(true)
            let full: @Sendable (PurchaseStep) throws -> Void = { step in
                if step == .written, isFull.withLock({ $0 }) { throw POSIXError(.ENOSPC) }
            }
            await device.transport.order([.away])
            let queue = device.queue(full)
            let events = await queue.events()
            #expect(try await queue.purchase(sale.product) == .kept)
            #expect(try device.records() == [])
            #expect(await device.storefront.finished == [])
            for await event in events {
                if case .notWritten(let record, _) = event {
                    #expect(record.transactionID == sale.id)
                    break
                }
            }
            // The app ends; the App Store still has the transaction.
            let later = device.queue(full)
            try await device.running(later) {
                try await eventually("it is finished") { await device.storefront.finished == [sale.id] }
            }
            #expect(try await server.orders("alice") == 1)
        }
    }

    @Test func `an unreadable file is put aside and reported, and its transaction comes again`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let sale = try await server.sell(to: "alice")
            try device.files.write(Data("{".utf8), to: FileNames.name(sale.id))
            try device.files.write(Data(#"{"transaction_id":"other"}"#.utf8), to: "2.json")
            await device.storefront.keep(sale.transaction)
            let queue = device.queue()
            let events = await queue.events()
            try await device.running(queue) {
                var unreadable: Set<String> = []
                for await event in events {
                    if case .unreadable(let file) = event { unreadable.insert(file) }
                    if case .finished = event { break }
                }
                #expect(unreadable == ["2.json", FileNames.name(sale.id)])
            }
            #expect(await device.storefront.finished == [sale.id])
            #expect(try device.files.names() == [])
            let aside = try FileManager.default.contentsOfDirectory(atPath: device.files.url.path)
            #expect(aside.count { $0.hasPrefix(".unreadable-") } == 2)
        }
    }
}
