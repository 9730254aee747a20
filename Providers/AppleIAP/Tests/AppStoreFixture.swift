import AppleIAPProvider
import AppleTrust
import Crypto
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

/// The server API of one app with a scripted App Store, and a clock that only pauses move.
final class AppStoreFixture: Sendable {
    typealias Reply = Result<IncomingReply, HTTPTransportError>

    static let keyID = "ABC123DEFG"
    static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
    static let start: Int64 = 1_790_000_000_000
    static let privateKey = P256.Signing.PrivateKey()
    static let hosts: [AppleEnvironment: String] = [
        .production: "https://prod.example", .sandbox: "https://sand.example",
    ]

    private struct State {
        var now = AppStoreFixture.start
        var pauses: [Int64] = []
    }

    private let state = Mutex(State())
    let transport: RecordingTransport

    /// - Parameters:
    ///   - script: the answers, in order.
    ///   - otherwise: answers after the end of the script.
    init(
        _ script: [Reply] = [],
        otherwise: @escaping @Sendable (OutgoingRequest) -> Reply = { _ in .failure(.notSent) }
    ) {
        let replies = Mutex(script)
        transport = RecordingTransport { request throws(HTTPTransportError) in
            let reply = replies.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return try (reply ?? otherwise(request)).get()
        }
    }

    var now: Int64 { state.withLock { $0.now } }
    var pauses: [Int64] { state.withLock { $0.pauses } }
    var time: TimeSource { TimeSource { [self] in now } }
    var requests: [OutgoingRequest] { transport.requests }
    var urls: [String] { requests.map(\.url) }
    var hosts: [String] { urls.map { String($0.split(separator: "/")[1]) } }

    func advance(milliseconds: Int64) { state.withLock { $0.now += milliseconds } }

    func pause(_ duration: Duration) {
        let (seconds, fraction) = duration.components
        let milliseconds = seconds * 1_000 + fraction / 1_000_000_000_000_000
        state.withLock {
            $0.pauses.append(milliseconds)
            $0.now += milliseconds
        }
    }

    static func key() throws -> AppStoreKey {
        try AppStoreKey(keyID: keyID, issuerID: issuer, pem: privateKey.pemRepresentation)
    }

    func api(
        _ environments: [AppleEnvironment] = [.production, .sandbox], isPreRelease: Bool = false
    ) throws -> AppStoreServerAPI {
        AppStoreServerAPI(
            bundleID: "com.example.app", key: try Self.key(),
            addresses: Self.hosts.filter { environments.contains($0.key) }, isPreRelease: isPreRelease, http: transport,
            time: time, pause: { [self] in pause($0) })
    }
}

extension Result<IncomingReply, HTTPTransportError> {
    static func json(_ body: String, status: Int = 200, headers: [(name: String, value: String)] = []) -> Self {
        .success(IncomingReply(status: status, headers: headers, body: Data(body.utf8)))
    }

    /// Makes Apple's error body; the status is the code without its last four digits.
    static func apple(_ code: Int, retryAfter: Int64? = nil) -> Self {
        .json(
            #"{"errorCode":\#(code),"errorMessage":"Words of Apple's."}"#, status: code / 10_000,
            headers: retryAfter.map { [(name: "retry-after", value: "\($0)")] } ?? [])
    }

    static func status(_ status: Int, _ headers: [(name: String, value: String)] = []) -> Self {
        .success(IncomingReply(status: status, headers: headers, body: Data("Unauthenticated\n".utf8)))
    }
}

/// Returns the error of a call; nil where it succeeds.
func failure<Value>(
    _ call: () async throws(AppStoreServerError) -> Value
) async -> AppStoreServerError? {
    do throws(AppStoreServerError) {
        _ = try await call()
        return nil
    } catch {
        return error
    }
}

/// Returns all items of a list, and the error that ended it.
func readAll<Item>(_ pages: AppStorePages<Item>) async -> ([Item], AppStoreServerError?) {
    var items: [Item] = []
    do {
        for try await page in pages { items += page.items }
        return (items, nil)
    } catch {
        return (items, error)
    }
}

/// A call of an endpoint, with its request and a valid answer.
struct AppStoreCall: Sendable, CustomTestStringConvertible {
    let name: String
    let method: String
    /// The path and query.
    let target: String
    var body = ""
    let reply: String
    var status = 200
    /// The result of the call, from the answer.
    let result: String
    /// True where the call searches both environments.
    var isSearching = true
    var isRepeatable = true
    let run: @Sendable (AppStoreServerAPI) async throws(AppStoreServerError) -> String

    var testDescription: String { name }

    static func named(_ name: String) -> AppStoreCall { all.first { $0.name == name }! }
}
