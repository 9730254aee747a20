import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PaydeskClient

@Suite("The models of screens")
struct ScreenModelTests {
    private static let products = [
        ("com.example.year", "169"), ("com.example.month", "39.9"), ("com.example.walkie", "6"),
        ("com.example.day7", "8"), ("com.example.coins", "6"),
    ].map { id, price in
        StoreProduct(
            id: id, name: id, description: "", price: Decimal(string: price) ?? 0, displayPrice: "¥\(price)")
    }

    @MainActor
    private static func with(
        _ body: @MainActor (TestDevice, MembershipModel<TestStorefront>, ShopModel<TestStorefront>) async throws -> Void
    ) async throws {
        try await DeskServer.with { server in
            let device = TestDevice(server, products: Self.products)
            await device.login.set("alice")
            let queue = device.queue()
            let store = EntitlementStore(desk: device.desk, verifier: P256Verifier())
            try await body(
                device, MembershipModel(coordinator: queue, entitlements: store),
                ShopModel(coordinator: queue, entitlements: store))
        }
    }

    @Test @MainActor func `plans come by price, once, and a purchase makes a member`() async throws {
        try await Self.with { device, model, _ in
            var loading = model.updates.makeAsyncIterator()
            #expect(await loading.next()?.shop.isLoading == false)
            async let first: Void = model.load()
            async let second: Void = model.load()
            _ = await (first, second)
            #expect(await loading.next()?.shop.isLoading == true)
            #expect(
                model.state.shop.items.map(\.id) == ["com.example.day7", "com.example.month", "com.example.year"])
            #expect(model.state.shop.isLoaded && !model.state.shop.isLoading && !model.state.isMember)
            #expect(!model.state.canPurchase)
            model.select("com.example.unknown")
            #expect(model.state.selected == nil)
            model.select("com.example.month")
            #expect(model.state.canPurchase)

            await device.storefront.prepare(try await device.server.sell(to: "alice").transaction)
            await model.purchase()
            #expect(model.state.shop.purchase == .purchased && model.state.isMember)
            let current = try #require(model.state.current)
            #expect(current.tier == "VIP" && current.sku == "vip_month" && !current.willRenew)
            #expect(current.text(.english).hasPrefix("VIP, until ") && current.text(.chinese).contains("有效期至 20"))
        }
    }

    /// The end of Apple's sheet, and the state that follows.
    private static let ends: [(end: StorePurchase?, failure: StorefrontError?, state: PurchaseState)] = [
        (.cancelled, nil, .cancelled), (.pending, nil, .pending(.approval)), (nil, .cancelled, .cancelled),
        (nil, .notAllowed, .failed(.store(.notAllowed))), (nil, .noNetwork, .failed(.store(.noNetwork))),
    ]

    @Test @MainActor func `each end of a purchase has its state and its words`() async throws {
        try await Self.with { device, model, _ in
            await model.load()
            model.select("com.example.month")
            for (end, failure, state) in Self.ends {
                await device.storefront.prepare(end: end, failure: failure)
                await model.purchase()
                #expect(model.state.shop.purchase == state && model.state.canPurchase && !model.state.isMember)
                let words = state.text(.english)
                if case .failed = state { #expect(model.state.shop.message == words) }
                #expect(!words.isEmpty && !state.text(.chinese).isEmpty)
            }
        }
    }

    @Test @MainActor func `a paid purchase that the server has not got is waiting, and becomes purchased`() async throws
    {
        try await Self.with { device, model, _ in
            await model.load()
            model.select("com.example.month")
            await device.storefront.prepare(try await device.server.sell(to: "alice").transaction)
            await device.transport.order([.away])
            await model.purchase()
            #expect(model.state.shop.purchase == .pending(.confirmation))
            let following = Task { await model.run() }
            // The model listens before the queue begins.
            for _ in 0..<5 { await SpawnedProgram.pause() }
            let queue = model.queue
            try await device.running(queue) {
                _ = try await device.drain(queue)
                try await eventually("it is purchased") { model.state.shop.purchase == .purchased }
                try await eventually("a member") { model.state.isMember }
            }
            following.cancel()
            await following.value
        }
    }

    @Test @MainActor func `a payment elsewhere is waited for, and arrives`() async throws {
        try await Self.with { device, model, _ in
            await model.load()
            model.select("com.example.month")
            let server = device.server
            let order = Mutex("")
            // The page of a payment is for browsers; the model only has to wait.
            await model.purchase(platform: .web, accept: [.url]) { contract in
                order.withLock { $0 = contract.paymentID ?? "" }
                return false
            }
            #expect(model.state.shop.purchase == .pending(.payment) && !model.state.isMember)
            let following = Task { await model.run() }
            let paid = await LoopbackHTTP.send(
                "POST", "/sandbox/\(order.withLock { $0 })", port: server.port,
                headers: ["Content-Type": "application/x-www-form-urlencoded"], body: "outcome=succeed")
            #expect(paid?.status == 200)
            await model.refresh()
            try await eventually("it is purchased") { model.state.shop.purchase == .purchased }
            following.cancel()
            await following.value
        }
    }

    @Test @MainActor func `a device is bought once, and is restored`() async throws {
        try await Self.with { device, _, shop in
            await shop.load()
            #expect(shop.state.items.map(\.id) == ["com.example.walkie"])
            #expect(shop.state.items.first?.sku.attributes["range_km"] == .integer(3))
            await device.storefront.prepare(
                try await device.server.sell("com.example.walkie", to: "alice").transaction)
            await shop.purchase("com.example.walkie")
            #expect(shop.state.purchase == .purchased && shop.state.items.first?.isOwned == true)
            await shop.purchase("com.example.walkie")
            #expect(await device.storefront.purchases == 1)
            #expect(shop.state.message == ClientFailure.alreadyOwned.text(.english))
            await shop.restore()
            #expect(shop.state.message == "1 purchase restored." && !shop.state.isRestoring)
            shop.dismissMessage()
            #expect(shop.state.message == nil)
        }
    }

    @Test @MainActor func `a failed loading may be tried again`() async throws {
        try await Self.with { device, _, shop in
            await device.storefront.prepare(end: nil, failure: .noNetwork)
            await shop.load()
            #expect(!shop.state.isLoaded && !shop.state.isLoading)
            #expect(shop.state.message == ClientFailure.store(.noNetwork).text(.english))
            await device.storefront.prepare(end: nil)
            await shop.load()
            #expect(shop.state.isLoaded)
        }
    }

    @Test @MainActor func `the manage and refund entries say what went wrong`() async throws {
        try await Self.with { device, model, _ in
            await model.manage()
            #expect(model.state.shop.message == nil)
            await model.requestRefund(product: "com.example.month")
            #expect(model.state.shop.message == ClientFailure.store(.notAvailable).text(.english))
            await device.storefront.prepare(end: nil, failure: .notAvailable)
            model.dismissMessage()
            await model.manage()
            #expect(model.state.shop.message != nil)
        }
    }

    @Test @MainActor func `the limit is counted by the server, named in words, and lifted by a membership`()
        async throws
    {
        try await Self.with { device, model, _ in
            let limit = LimitModel(
                desk: device.desk, meter: "messages", unit: LimitUnit(english: "messages", chinese: "条消息"))
            await limit.load()
            #expect(limit.state.usage?.remaining == 2 && !limit.state.isReached && limit.state.prompt == nil)
            #expect(await limit.use())
            #expect(await limit.use())
            #expect(limit.state.isReached)
            #expect(await limit.use() == false)
            let prompt = try #require(limit.state.prompt)
            #expect(prompt.contains("all 2 free messages") && prompt.contains("membership lifts the limit"))
            let usage = try #require(limit.state.usage)
            let unit = LimitUnit(english: "messages", chinese: "条消息")
            #expect(ScreenText.limitReached(usage, unit, .chinese).contains("已用完 2 条消息"))

            await model.load()
            model.select("com.example.month")
            await device.storefront.prepare(try await device.server.sell(to: "alice").transaction)
            await model.purchase()
            #expect(await limit.use())
            #expect(!limit.state.isReached && limit.state.prompt == nil && limit.state.usage?.limit == nil)

            try await device.server.kill()
            await device.login.set(nil)
            #expect(await limit.use() == false)
            #expect(limit.state.message == "Log in first.")
        }
    }

    @Test @MainActor func `no Chinese text has English words, and none is empty`() {
        let states: [PurchaseState] =
            [
                .inProgress, .purchased, .pending(.approval), .pending(.confirmation), .pending(.payment), .cancelled,
            ]
            + [
                .store(.cancelled), .store(.invalidPayment), .store(.notAllowed), .store(.notAvailable),
                .store(.noNetwork), .server(.noAnswer("x")), .server(.foreignAnswer(status: 200)),
                .server(.loggedOut), .snapshot(.signature), .alreadyOwned, .noProducts, .notPaid,
            ].map(PurchaseState.failed)
        for state in states {
            let (english, chinese) = (state.text(.english), state.text(.chinese))
            #expect(!english.isEmpty && english.allSatisfy(\.isASCII), "\(english)")
            let words = chinese.replacingOccurrences(of: "App Store", with: "")
            #expect(!words.isEmpty && !words.contains { $0.isASCII && $0.isLetter }, "\(chinese)")
            #expect(!chinese.contains("您") && !chinese.contains("！") && !english.contains("!"))
        }
    }
}
