import AsyncHTTPClient
import Domain
import Gateway
import NIOCore

/// The addresses to which connections are allowed.
enum AddressRules: Sendable {
    case publicAddresses
    /// `webhooks.allow_private_networks`: development only.
    case anyAddress

    func allow(_ address: IPAddress) -> Bool { self == .anyAddress || address.isPublic }
}

/// The real transport of webhooks: it connects only to addresses that were checked when the run began.
///
/// HTTP clients are cached for a while, one for each endpoint and address, so that an endpoint's connections outlast a
/// run. Endpoints of one host share no client: one that hangs would occupy all connections, and the others' messages
/// would time out unsent.
actor OutgoingWebhooks: WebhookTransport {
    /// The endpoint that a client serves.
    struct Key: Hashable, Sendable {
        let url: String
        let host: String
        let address: IPAddress
    }

    private struct Entry {
        let client: HTTPClient
        var users: Int
        var lastUse: ContinuousClock.Instant
    }

    /// Beyond this number of clients, unused ones are closed at once.
    private static let kept = 256
    private static let idle = Duration.seconds(60)
    /// The most addresses of a host that are tried.
    private static let tried = 4

    private let rules: AddressRules
    private let resolve: @Sendable (String) async -> [IPAddress]
    private let limits: WebhookLimits
    private var entries: [Key: Entry] = [:]
    private var isShutDown = false

    init(
        rules: AddressRules, limits: WebhookLimits = WebhookLimits(),
        resolve: @escaping @Sendable (String) async -> [IPAddress]
    ) {
        self.rules = rules
        self.limits = limits
        self.resolve = resolve
    }

    func open(_ url: WebhookURL) async -> Result<any WebhookSession, WebhookRefusal> {
        let addresses = await resolve(url.host)
        // One address that is not public suffices: a name server that gives both now may give only the bad one next
        // time.
        guard addresses.allSatisfy(rules.allow) else { return .failure(WebhookRefusal(.blockedAddress)) }
        guard !addresses.isEmpty, !isShutDown else { return .failure(WebhookRefusal(.name)) }
        let keys = addresses.prefix(Self.tried).map { Key(url: url.dialled, host: url.address.host, address: $0) }
        return .success(OutgoingSession(url: url.dialled, keys: keys, limits: limits, clients: self))
    }

    /// Closes every connection; runs that still use one fail.
    func shutDown() async {
        isShutDown = true
        let clients = entries.values.map(\.client)
        entries = [:]
        for client in clients { try? await client.shutdown() }
    }

    /// Takes the client of an address, which the caller gives back by ``release(_:)``.
    func client(_ key: Key) async -> HTTPClient {
        await evict()
        var entry = entries[key] ?? Entry(client: Self.client(key, limits), users: 0, lastUse: .now)
        entry.users += 1
        entry.lastUse = .now
        entries[key] = entry
        return entry.client
    }

    func release(_ key: Key) {
        entries[key]?.users -= 1
        entries[key]?.lastUse = .now
    }

    private func evict() async {
        let limit = ContinuousClock.now - Self.idle
        let isFull = entries.count >= Self.kept
        let old = entries.filter { $0.value.users == 0 && (isFull || $0.value.lastUse < limit) }
        for key in old.keys { entries[key] = nil }
        for entry in old.values { try? await entry.client.shutdown() }
    }

    private static func client(_ key: Key, _ limits: WebhookLimits) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.proxy = nil
        configuration.decompression = .disabled
        configuration.timeout.connect = .milliseconds(limits.connectMilliseconds)
        configuration.connectionPool.idleTimeout = .seconds(30)
        // A failed connection is a failed attempt; the schedule tries again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 20
        // The name is not resolved again; the address was checked. TLS still verifies the name.
        configuration.dnsOverride = [key.host: key.address.description]
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}

/// The time and size limits of a delivery to an endpoint.
struct WebhookLimits: Sendable {
    var connectMilliseconds: Int64 = 5_000
    /// The time of the whole attempt.
    var totalMilliseconds: Int64 = 15_000
    /// The most bytes of an answer that are read.
    var replyBytes = 16 << 10
}
