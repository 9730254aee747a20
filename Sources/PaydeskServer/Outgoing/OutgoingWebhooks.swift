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

/// The real way out for webhooks: dials only addresses that were checked when the run began.
///
/// The HTTP clients are kept for a while, one for each endpoint and address, so that an endpoint's connections outlive a
/// run. Endpoints of one host share none: one that hangs would hold them all, and its neighbours' messages would time out
/// before they are sent.
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

    /// More clients than this are kept only while they are used.
    private static let kept = 256
    private static let idle = Duration.seconds(60)
    /// So many of a host's addresses are tried.
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
        // One address that is not public is enough: whoever answers now with both may answer next with the bad one only.
        guard addresses.allSatisfy(rules.allow) else { return .failure(WebhookRefusal(.blockedAddress)) }
        guard !addresses.isEmpty, !isShutDown else { return .failure(WebhookRefusal(.name)) }
        let keys = addresses.prefix(Self.tried).map { Key(url: url.dialled, host: url.address.host, address: $0) }
        return .success(OutgoingSession(url: url.dialled, keys: keys, limits: limits, clients: self))
    }

    /// Ends every connection; runs that still use one fail.
    func shutDown() async {
        isShutDown = true
        let clients = entries.values.map(\.client)
        entries = [:]
        for client in clients { try? await client.shutdown() }
    }

    /// The client of an address, to be given back by ``release(_:)``.
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
        // A connection that fails is an attempt that failed; the schedule tries again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 20
        // The name is not resolved again: this is the address that was checked. TLS still verifies the name.
        configuration.dnsOverride = [key.host: key.address.description]
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}

/// The time and size limits of a delivery to an endpoint.
struct WebhookLimits: Sendable {
    var connectMilliseconds: Int64 = 5_000
    /// For the whole attempt.
    var totalMilliseconds: Int64 = 15_000
    /// More of an answer is not read.
    var replyBytes = 16 << 10
}
