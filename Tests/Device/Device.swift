import Foundation
import PaydeskClient
import Synchronization

/// A device whose purchases go through the queue, for tests that kill it at any step.
///
/// usage: paydesk-device SERVER TOKEN FOLDER STEP purchase|resume
///
/// `FOLDER/app-store.json` is the App Store: transactions, and which of them are sold and finished. STEP is the number
/// of the step at which the process kills itself; -1 is none.
@main
enum Device {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let server = URL(string: arguments[1]), let last = Int(arguments[4]) else {
            exit(2)
        }
        let (token, folder) = (arguments[2], URL(fileURLWithPath: arguments[3]))
        let steps = StepCounter()
        let desk = Paydesk(
            baseURL: server, token: { token },
            storage: ClientStorage(folder: folder.appendingPathComponent("app")), language: .english)
        let store = FileStorefront(file: folder.appendingPathComponent("app-store.json"))
        let queue = PurchaseCoordinator(desk: desk, storefront: store, jitter: { _ in 0 }) { _ in
            if steps.next() == last { kill(getpid(), SIGKILL) }
        }
        let events = await queue.events()
        if arguments[5] == "purchase" {
            guard case .purchased = try await queue.purchase("com.example.month") else { exit(3) }
        }
        let isIdle = await queue.waiting().isEmpty
        let work = Task { await queue.run() }
        if try await store.hasUnfinished() || !isIdle {
            for await event in events {
                if case .finished = event { break }
            }
        }
        work.cancel()
        await work.value
    }
}

final class StepCounter: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> Int { count.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue }
}

/// An App Store in a file, which outlives the device's process.
actor FileStorefront: Storefront {
    struct Sold: Codable {
        var id: String
        var product: String
        var jws: String
        var token: String
        /// True since the customer paid.
        var isSold: Bool
        var isFinished: Bool
    }

    private let file: URL

    init(file: URL) { self.file = file }

    nonisolated var canMakePayments: Bool { true }

    func products(_: [String]) async throws -> [StoreProduct] { [] }

    func purchase(_ product: String, appAccountToken: UUID, quantity _: Int) async throws -> StorePurchase {
        var sold = try read()
        guard let index = sold.firstIndex(where: { $0.product == product && !$0.isSold }) else { return .cancelled }
        guard UUID(uuidString: sold[index].token) == appAccountToken else { throw StorefrontError.invalidPayment }
        sold[index].isSold = true
        try write(sold)
        return .purchased(Self.transaction(sold[index]))
    }

    func hasUnfinished() throws -> Bool { try read().contains { $0.isSold && !$0.isFinished } }

    func unfinished() async -> [StoreTransaction] {
        ((try? read()) ?? []).filter { $0.isSold && !$0.isFinished }.map(Self.transaction)
    }

    nonisolated func updates() -> AsyncStream<StoreTransaction> { AsyncStream { _ in } }

    func currentEntitlements() async -> [StoreTransaction] { [] }

    func finish(_ transaction: String) async throws {
        try write(
            try read().map { sold in
                var copy = sold
                if copy.id == transaction { copy.isFinished = true }
                return copy
            })
    }

    func sync() async throws {}
    func showManageSubscriptions() async throws {}
    func requestRefund(_: String) async throws -> Bool { false }

    private func read() throws -> [Sold] { try JSONDecoder().decode([Sold].self, from: try Data(contentsOf: file)) }
    private func write(_ sold: [Sold]) throws { try JSONEncoder().encode(sold).write(to: file, options: .atomic) }

    private static func transaction(_ sold: Sold) -> StoreTransaction {
        StoreTransaction(
            id: sold.id, productID: sold.product, jws: sold.jws, appAccountToken: UUID(uuidString: sold.token))
    }
}
