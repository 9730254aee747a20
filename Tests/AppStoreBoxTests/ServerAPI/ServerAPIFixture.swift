import AppleTrust
import Crypto
import Domain
import Encodings
import Foundation
import Synchronization

@testable import AppStoreBox

/// The server API over rows in memory, and a client with its key.
struct ServerAPIFixture {
    /// The real time.
    static let now: Int64 = 1_800_000_000

    let authority: BoxAuthority
    let api: ServerAPI
    let verifier: AppleVerifier

    /// - Parameters:
    ///   - more: consumables besides the two purchases.
    ///   - extensions: notifications of extensions that were sent; the second did not arrive.
    init(
        more: Int64 = 0, extensions: Int64 = 0, perSecond: Int64? = nil,
        edit: (inout BoxSubscription) -> Void = { _ in }
    ) throws {
        authority = try AuthorityTests.authority()
        var subscription = BoxRows.subscription
        edit(&subscription)
        let others = (0..<more).map {
            BoxRows.transaction(900_000_000_000_000_100 + $0, "coins", .consumable)
        }
        let signer = try BoxSigner(authority, app: BoxRows.app)
        var sent = [BoxRows.notification(1, .subscribed, .initialBuy, BoxRows.transaction, BoxRows.subscription)]
        sent += (0..<extensions).map {
            BoxRows.notification(
                10 + $0, .renewalExtended, nil, BoxRows.transaction, BoxRows.subscription,
                attempts: [.init(at: BoxRows.start, status: $0 == 1 ? 500 : 200)])
        }
        let rows = MemoryRows(
            transactions: [BoxRows.transaction, BoxRows.coins] + others, subscription: subscription,
            perSecond: perSecond,
            signer: signer, notifications: sent)
        api = ServerAPI(
            try BoxSigning(authority, app: BoxRows.app), reader: rows, acts: rows,
            clocks: .init(real: TimeSource { ServerAPIFixture.now * 1_000 }, business: { BoxRows.start + 5_000 }))
        verifier = try AppleVerifier(
            AppleVerifierConfiguration(
                apps: [AppleApp(bundleID: BoxRows.app.bundleID)], environments: [.sandbox], extraRoots: authority.roots)
        )
    }

    /// A bearer token to change before it is signed.
    struct Token {
        var header: [String: JSONValue]
        var claims: [String: JSONValue]
        var key: P256.Signing.PrivateKey
        var scheme = "Bearer"
    }

    func bearer(_ edit: (inout Token) -> Void = { _ in }) throws -> String {
        var token = Token(
            header: ["alg": "ES256", "typ": "JWT"].mapValues(JSONValue.string),
            claims: ["iat": .integer(Self.now), "exp": .integer(Self.now + 3_600)],
            key: try P256.Signing.PrivateKey(pemRepresentation: authority.keyFile()))
        token.header["kid"] = .string(authority.keyID)
        for (name, value) in [
            ("iss", authority.issuerID), ("bid", BoxRows.app.bundleID), ("aud", "appstoreconnect-v1"),
        ] { token.claims[name] = .string(value) }
        edit(&token)
        let parts = try [token.header, token.claims].map { Base64URL.encoded(try JSONText.encoded($0)) }
        let input = parts.joined(separator: ".")
        let signature = try token.key.signature(for: Data(input.utf8)).rawRepresentation
        return "\(token.scheme) \(input).\(Base64URL.encoded(signature))"
    }

    /// - Parameter target: the path, and a query whose values need no decoding.
    func ask(_ method: String, _ target: String, _ body: String = "") async throws -> ServerAPIAnswer {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let pairs = parts.dropFirst().flatMap { $0.split(separator: "&") }.map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1).map(String.init)
            return (name: halves[0], value: halves.count > 1 ? halves[1] : "")
        }
        return try await api.answer(
            ServerAPIRequest(
                method: method, path: parts[0], query: pairs, authorization: try bearer(), body: Array(body.utf8)))
    }

    func verify(_ body: String, _ method: String = "POST") async throws -> ServerAPIAnswer {
        try await api.answer(ServerAPIRequest(method: method, path: "/verifyReceipt", body: Array(body.utf8)))
    }
}

extension ServerAPIAnswer {
    var object: [String: JSONValue] {
        get throws { try JSONDecoder().decode([String: JSONValue].self, from: Data(body)) }
    }

    func text(_ name: String) throws -> String {
        guard case .string(let text) = try object[name] else { throw Unexpected() }
        return text
    }

    func texts(_ name: String) throws -> [String] {
        guard case .array(let values) = try object[name] else { throw Unexpected() }
        return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    /// The number of the members of a list.
    func items(_ name: String) throws -> Int {
        guard case .array(let values) = try object[name] else { throw Unexpected() }
        return values.count
    }
}

/// The rows of one customer.
private final class MemoryRows: ServerAPIReader, ServerAPIActs {
    private let rows: [BoxTransaction]
    private let perSecond: Int64?
    private let signer: BoxSigner
    private let subscription: Mutex<BoxSubscription>
    private let sent: Mutex<[BoxNotification]>

    init(
        transactions: [BoxTransaction], subscription: BoxSubscription, perSecond: Int64?, signer: BoxSigner,
        notifications: [BoxNotification]
    ) {
        rows = transactions
        self.subscription = Mutex(subscription)
        self.perSecond = perSecond
        self.signer = signer
        sent = Mutex(notifications)
    }

    func callsPerSecond() async throws -> Int64? { perSecond }

    func transaction(_ id: String) async throws -> BoxTransaction? { rows.first { $0.transactionID == id } }

    func transactions(of customer: String, after place: HistoryPlace?, limit: Int) async throws -> [BoxTransaction] {
        let mine = rows.filter { $0.customer == customer }.sorted {
            ($0.signedAt, $0.transactionID) < ($1.signedAt, $1.transactionID)
        }
        let later = mine.filter { row in
            place.map { (row.signedAt, row.transactionID) > ($0.signedAt, $0.transactionID) } ?? true
        }
        return Array(later.prefix(limit))
    }

    func subscriptions(of customer: String) async throws -> [BoxSubscription] {
        subscription.withLock { $0.customer == customer ? [$0] : [] }
    }

    func notification(_ uuid: String) async throws -> SentNotification? {
        try signed(sent.withLock { $0.filter { $0.uuid == uuid } }).first
    }

    func notifications(
        signed dates: ClosedRange<Int64>, after number: Int64, limit: Int
    ) async throws -> [SentNotification] {
        let found = sent.withLock { $0.filter { dates.contains($0.signedAt) && $0.number > number } }
        return try signed(Array(found.prefix(limit)))
    }

    private func signed(_ rows: [BoxNotification]) throws -> [SentNotification] {
        try rows.map { SentNotification(row: $0, signedPayload: try signer.notification($0)) }
    }

    func extend(_ originalTransactionID: String, days: Int64) async throws -> BoxSubscription {
        subscription.withLock {
            $0.expiresAt += days * 86_400_000
            return $0
        }
    }

    func requestTest() async throws -> BoxNotification {
        let test = BoxRows.notification(
            1_000, .test, nil, nil, nil, attempts: [.init(at: BoxRows.start, status: 200)])
        sent.withLock { $0.append(test) }
        return test
    }
}
