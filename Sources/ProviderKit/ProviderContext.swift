public import Domain
public import FoundationEssentials

/// The dependencies of an account's provider, and its only access to Paydesk.
public struct ProviderContext: Sendable {
    public let http: any HTTPTransport
    /// The real time: ages of idempotency keys, signatures, tokens.
    public let time: TimeSource
    /// The time of what is sold, which development mode can move ahead; only providers whose manifest says
    /// ``ProviderManifest/followsBusinessTime`` read it.
    public let businessTime: BusinessTime
    public let random: RandomSource
    public let book: any AccountBook
    /// The address at which this account's notifications arrive, `https://pay.example/v1/notify/…`.
    public let notifyURL: String
    /// Paydesk's own public URL, without a slash at its end.
    public let publicURL: String
    public let log: ProviderLog
    /// The cache of this account in this process; its entries may be lost at any time.
    public let cache: ProviderCache

    /// - Parameters:
    ///   - businessTime: nil for the real time.
    ///   - cache: nil makes an empty one; accounts never share a cache.
    public init(
        http: any HTTPTransport, time: TimeSource, businessTime: BusinessTime? = nil, random: RandomSource,
        book: any AccountBook, notifyURL: String,
        publicURL: String, log: ProviderLog = .silent, cache: ProviderCache? = nil
    ) {
        self.http = http
        self.time = time
        self.businessTime = businessTime ?? BusinessTime(real: time)
        self.random = random
        self.book = book
        self.notifyURL = notifyURL
        self.publicURL = publicURL
        self.log = log
        self.cache = cache ?? ProviderCache(time: time)
    }

    /// Returns the address of the page that a ``PaymentPageServing`` provider serves for a payment.
    public func pageURL(kind: String, payment: ID<Payment>) -> String { pageURL(kind: kind, id: payment.rawValue) }

    /// Returns the address of the page of a payment or a set-up.
    public func pageURL(kind: String, id: String) -> String { "\(publicURL)/\(kind)/\(id)" }
}

/// A small durable table of one account, for a provider that plays its own payment service.
///
/// A value has at most 64 KiB; beyond 100,000 entries the oldest are dropped.
public protocol AccountBook: Sendable {
    func value(_ key: String) async throws(ProviderError) -> Data?

    /// Replaces a value in one transaction and returns the stored one.
    ///
    /// The closure may run more than once; it returns nil to leave the entry unchanged.
    func update(
        _ key: String, _ change: @escaping @Sendable (Data?) -> Data?
    ) async throws(ProviderError) -> Data?
}

/// A call to a provider's service.
public struct OutgoingRequest: Sendable {
    public var method: String
    public var url: String
    public var headers: [(name: String, value: String)]
    public var body: Data
    /// The time limit of the whole call; after it the call ends with ``HTTPTransportError/outcomeUnknown``.
    public var timeoutMilliseconds: Int64
    /// The largest accepted body of an answer in bytes.
    public var maxReplyBytes: Int
    /// The identity for mutual TLS; nil sends no certificate and trusts the system's roots.
    public var identity: OutgoingIdentity?

    public init(
        method: String, url: String, headers: [(name: String, value: String)] = [], body: Data = Data(),
        timeoutMilliseconds: Int64 = 15_000, maxReplyBytes: Int = 1 << 20, identity: OutgoingIdentity? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutMilliseconds = timeoutMilliseconds
        self.maxReplyBytes = maxReplyBytes
        self.identity = identity
    }
}

public struct IncomingReply: Sendable {
    public var status: Int
    public var headers: [(name: String, value: String)]
    public var body: Data

    public init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

public enum HTTPTransportError: Error, Sendable, Equatable {
    /// The request never reached the peer.
    case notSent
    /// The request may have arrived: after a timeout, a lost connection, or an answer that is too large.
    case outcomeUnknown
}

/// The injected HTTP client: it follows no redirects, and bounds time and size.
public protocol HTTPTransport: Sendable {
    func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply
}
