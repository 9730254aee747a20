import Foundation
import TestSupport
import Testing

@testable import PaydeskClient

@Suite("The queue of purchases, with users who come and go")
struct PurchaseUserTests {
    @Test func `a purchase is sent with its buyer's token alone`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let sale = try await server.sell(to: "alice")
            await device.storefront.prepare(sale.transaction)
            await device.transport.order([.away])
            let queue = device.queue()
            #expect(try await queue.purchase(sale.product) == .kept)

            await device.login.set("bob")
            try await device.running(queue) {
                await queue.retryNow()
                for _ in 0..<3 { try await device.time.advanceToNext() }
                #expect(await device.transport.attaches.count == 1, "sent for another user")
                await device.login.set(nil)
                await queue.retryNow()
                try await device.time.advanceToNext()
                #expect(await device.transport.attaches.count == 1)

                await device.login.set("alice")
                let token = await device.login.token ?? ""
                await queue.retryNow()
                try await eventually("it is finished") { await device.storefront.finished == [sale.id] }
                #expect(await device.transport.attaches.last == "Bearer \(token)")
            }
            #expect(try await server.orders("alice") == 1)
            #expect(try await server.orders("bob") == 0)
        }
    }

    @Test func `the user is known after a start by the token that Apple signed`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let sale = try await server.sell(to: "alice")
            // The device has seen alice's token in an earlier purchase.
            await device.storefront.prepare(end: .cancelled)
            #expect(try await device.queue().purchase(sale.product) == .cancelled)

            await device.login.set("bob")
            await device.storefront.keep(sale.transaction)
            let queue = device.queue()
            try await device.running(queue) {
                try await eventually("it waits for alice") {
                    try device.records().first.map { $0.user == "alice" && $0.reason == "another_user" } ?? false
                }
                #expect(await device.transport.attaches == [])
                await device.login.set("alice")
                await queue.retryNow()
                try await eventually("it is finished") { await device.storefront.finished == [sale.id] }
            }
            #expect(try await server.orders("bob") == 0)
        }
    }

    @Test func `a transaction of nobody waits for a login and is sent as theirs`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            let sale = try await server.sell(to: nil)
            await device.storefront.keep(
                StoreTransaction(id: sale.id, productID: sale.product, jws: sale.jws, appAccountToken: nil))
            let queue = device.queue()
            try await device.running(queue) {
                try await eventually("it waits") { try device.records().first?.reason == "logged_out" }
                #expect(await device.transport.attaches == [])
                await device.login.set("carol")
                await queue.retryNow()
                try await eventually("it is finished") { await device.storefront.finished == [sale.id] }
            }
            #expect(try await server.orders("carol") == 1)
        }
    }

    @Test func `another user's purchase is refused and stays`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("bob")
            let sale = try await server.sell(to: "alice")
            _ = try await server.desk(of: "alice").attach(
                sale.jws, transaction: sale.id,
                login: try #require(Login(token: DeskServer.token("alice"), claim: "sub")))
            await device.storefront.keep(sale.transaction)
            let queue = device.queue()
            let events = await queue.events()
            try await device.running(queue) {
                for await event in events {
                    if case .refused(_, let refusal) = event {
                        #expect(refusal.error == .purchaseBelongsToAnotherUser)
                        break
                    }
                }
            }
            #expect(await device.storefront.finished == [])
        }
    }

    @Test func `after a 401 it waits for another token`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            let sale = try await server.sell(to: "alice")
            let (old, fresh) = (DeskServer.token("alice", lifetime: -60), DeskServer.token("alice"))
            let isFresh = LoginState()
            let desk = server.desk(
                { await isFresh.token == nil ? old : fresh }, in: device.folder, time: device.time.time,
                transport: device.transport)
            let queue = PurchaseCoordinator(
                desk: desk, storefront: device.storefront, jitter: { _ in 0 }, step: { _ in })
            await device.storefront.keep(sale.transaction)
            try await device.running(queue) {
                for _ in 0..<4 { try await device.time.advanceToNext() }
                #expect(await device.transport.attaches == ["Bearer \(old)"])
                await isFresh.set("alice")
                _ = try await device.drain(queue)
            }
            #expect(await device.transport.attaches == ["Bearer \(old)", "Bearer \(fresh)"])
            #expect(await device.storefront.finished == [sale.id])
        }
    }

    @Test func `a contract of the App Store is bought, and its order is paid`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let contract = try await device.desk.checkout(sku: "vip_month")
            await device.storefront.prepare(try await server.sell(to: "alice").transaction)
            guard case .purchased(let attached?) = try await device.queue().purchase(contract: contract) else {
                Issue.record("it is not purchased")
                return
            }
            #expect(attached.orderID == contract.orderID && attached.environment == "Sandbox")
            guard case .paid = try await device.desk.waitForOrder(of: contract) else {
                Issue.record("it is not paid")
                return
            }
            let other = try await device.desk.checkout(sku: "vip_month", platform: .web)
            await #expect(throws: StorefrontError.notAvailable) { try await device.queue().purchase(contract: other) }
        }
    }

    @Test func `a restore hands in everything that the App Store has`() async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server)
            await device.login.set("alice")
            let sales = [try await server.sell(to: "alice"), try await server.sell("com.example.walkie", to: "alice")]
            for sale in sales { await device.storefront.keep(sale.transaction) }
            let restored = try await device.queue().restore()
            #expect(restored.restored == 2 && restored.results.allSatisfy { $0.status == "attached" })
            let owned = try await server.desk(of: "alice").entitlements()
            #expect(owned.owns("vip_month") && owned.owns("walkie"))
            #expect(await device.storefront.finished == [], "the queue alone finishes")
        }
    }
}
