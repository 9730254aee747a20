import Foundation

@testable import PaydeskClient

/// An App Store whose sales a test prepares.
actor TestStorefront: Storefront {
    private var sales: [StoreTransaction] = []
    private var bought: [StoreTransaction] = []
    private(set) var finished: [String] = []
    private(set) var purchases = 0
    private var end: StorePurchase?
    private var failure: StorefrontError?
    private var known: [StoreProduct]
    private let news = AsyncStream.makeStream(of: StoreTransaction.self)

    init(_ products: [StoreProduct] = []) { known = products }

    nonisolated var canMakePayments: Bool { true }

    /// The transaction that the next purchase of its product gives.
    func prepare(_ transaction: StoreTransaction) { sales.append(transaction) }

    /// The end of each further purchase.
    func prepare(end: StorePurchase?, failure: StorefrontError? = nil) {
        self.end = end
        self.failure = failure
    }

    /// A transaction that arrives without a purchase on this device.
    func bring(_ transaction: StoreTransaction) {
        bought.append(transaction)
        news.continuation.yield(transaction)
    }

    /// A transaction that was bought before the app began.
    func keep(_ transaction: StoreTransaction) { bought.append(transaction) }

    func products(_ ids: [String]) async throws -> [StoreProduct] {
        if let failure { throw failure }
        return known.filter { ids.contains($0.id) }
    }

    func purchase(_ product: String, appAccountToken: UUID, quantity _: Int) async throws -> StorePurchase {
        purchases += 1
        if let failure { throw failure }
        if let end { return end }
        guard let index = sales.firstIndex(where: { $0.productID == product && $0.appAccountToken == appAccountToken })
        else { throw StorefrontError.notAvailable }
        let transaction = sales.remove(at: index)
        bought.append(transaction)
        return .purchased(transaction)
    }

    func unfinished() async -> [StoreTransaction] { bought.filter { !finished.contains($0.id) } }

    nonisolated func updates() -> AsyncStream<StoreTransaction> { news.stream }

    func currentEntitlements() async -> [StoreTransaction] { bought }

    func finish(_ transaction: String) async throws { finished.append(transaction) }

    func sync() async throws { if let failure { throw failure } }

    func showManageSubscriptions() async throws { if let failure { throw failure } }

    func requestRefund(_: String) async throws -> Bool { true }
}

/// The way to the server with faults that a test orders.
actor FaultyTransport: ClientTransport {
    enum Fault: Sendable {
        /// The network is away: nothing arrives.
        case away
        /// The server has it, and its answer is lost.
        case loseReply
        case status(Int, error: String = "temporarily_unavailable", retryAfter: Int64? = nil)
        /// The same from somebody else than Paydesk.
        case page(Int)
        /// Runs before the request is sent.
        case before(@Sendable () async throws -> Void)
        /// Runs after the server answered, and the answer is lost.
        case after(@Sendable () async throws -> Void)
    }

    private let real = URLSessionTransport()
    private var faults: [Fault] = []
    private var standing: Fault?
    private var paths: [String] = []
    private var bearers: [String] = []

    /// The faults of the next attaches, one each; then the standing one, if any.
    func order(_ faults: [Fault], then standing: Fault? = nil) {
        self.faults = faults
        self.standing = standing
    }

    /// The attaches that were tried, by their bearer.
    var attaches: [String] { zip(paths, bearers).filter { $0.0.hasSuffix("/attach") }.map(\.1) }

    func send(_ request: ClientRequest) async throws -> ClientReply {
        paths.append(request.url.path)
        bearers.append(request.headers["Authorization"] ?? "")
        guard request.url.path.hasSuffix("/attach") else { return try await real.send(request) }
        let fault = faults.isEmpty ? standing : faults.removeFirst()
        switch fault {
        case nil: return try await real.send(request)
        case .away: throw PaydeskError.noAnswer("away")
        case .loseReply:
            _ = try await real.send(request)
            throw PaydeskError.noAnswer("lost")
        case .status(let status, let error, let retryAfter):
            let body = #"{"code":\#(status),"msg":"","error":"\#(error)","details":{}}"#
            let headers = retryAfter.map { ["retry-after": String($0)] } ?? [:]
            return ClientReply(status: status, headers: headers, body: Data(body.utf8))
        case .page(let status): return ClientReply(status: status, headers: [:], body: Data("<html>Log in</html>".utf8))
        case .before(let act):
            try await act()
            return try await real.send(request)
        case .after(let act):
            _ = try await real.send(request)
            try await act()
            throw PaydeskError.noAnswer("lost")
        }
    }

    nonisolated func stream(_ request: ClientRequest) -> AsyncThrowingStream<Data, any Error> { real.stream(request) }
}

/// The user who is logged in on a device.
actor LoginState {
    private(set) var token: String?

    func set(_ user: String?) { token = user.map { DeskServer.token($0) } }
}
