import AppleIAPProvider
import AppleTrust
import ProviderKit
import ProviderTesting
import Testing

struct AppStoreSearchTests {
    /// The answer of one environment.
    enum Says: Sendable {
        case good, unknown, unauthorized, refused, down

        var reply: AppStoreFixture.Reply {
            switch self {
            case .good: .json(#"{"signedTransactionInfo":"a.b.c"}"#)
            case .unknown: .apple(4_040_010)
            case .unauthorized: .status(401)
            case .refused: .apple(4_000_006)
            case .down: .apple(5_000_000)
            }
        }
    }

    enum Ends: Sendable, Equatable {
        case found(AppleEnvironment)
        case failed(AppStoreServerError)
    }

    struct Row: Sendable {
        var place = AppStoreSearch.anywhere
        var configured: [AppleEnvironment] = [.production, .sandbox]
        var isPreRelease = false
        let production: Says
        let sandbox: Says
        let ends: Ends
        /// The hosts that are called, in order, without repetitions.
        let asked: [String]
    }

    private static let (prod, sand) = ("prod.example", "sand.example")
    private static let down = Ends.failed(.retryable(.apple(code: 5_000_000), after: nil))
    private static let refused = Ends.failed(.permanent(code: 4_000_006, message: "Words of Apple's."))

    static let rows: [Row] = [
        Row(production: .good, sandbox: .good, ends: .found(.production), asked: [prod]),
        Row(production: .unknown, sandbox: .good, ends: .found(.sandbox), asked: [prod, sand]),
        Row(production: .unknown, sandbox: .unknown, ends: .failed(.unknownTransactionYet), asked: [prod, sand]),
        Row(production: .unknown, sandbox: .down, ends: down, asked: [prod, sand]),
        Row(
            production: .unknown, sandbox: .unauthorized, ends: .failed(.unauthorized(.sandbox)), asked: [prod, sand]),
        Row(production: .down, sandbox: .good, ends: down, asked: [prod]),
        Row(production: .refused, sandbox: .good, ends: refused, asked: [prod]),
        // A wrong key must not look like an unknown transaction.
        Row(production: .unauthorized, sandbox: .good, ends: .failed(.unauthorized(.production)), asked: [prod]),
        Row(
            isPreRelease: true, production: .unauthorized, sandbox: .good, ends: .found(.sandbox), asked: [prod, sand]),
        Row(
            isPreRelease: true, production: .unauthorized, sandbox: .unknown, ends: .failed(.unknownTransactionYet),
            asked: [prod, sand]),
        Row(
            isPreRelease: true, production: .unauthorized, sandbox: .unauthorized,
            ends: .failed(.unauthorized(.sandbox)), asked: [prod, sand]),
        Row(isPreRelease: true, production: .unauthorized, sandbox: .down, ends: down, asked: [prod, sand]),
        Row(isPreRelease: true, production: .good, sandbox: .good, ends: .found(.production), asked: [prod]),
        Row(place: .first(.sandbox), production: .good, sandbox: .good, ends: .found(.sandbox), asked: [sand]),
        Row(
            place: .first(.sandbox), production: .good, sandbox: .unknown, ends: .found(.production),
            asked: [sand, prod]),
        Row(
            place: .first(.sandbox), isPreRelease: true, production: .unauthorized, sandbox: .unknown,
            ends: .failed(.unknownTransactionYet), asked: [sand, prod]),
        Row(
            place: .first(.sandbox), isPreRelease: true, production: .good, sandbox: .unauthorized,
            ends: .failed(.unauthorized(.sandbox)), asked: [sand]),
        Row(
            place: .only(.production), production: .unknown, sandbox: .good, ends: .failed(.unknownTransactionYet),
            asked: [prod]),
        Row(
            place: .only(.production), isPreRelease: true, production: .unauthorized, sandbox: .good,
            ends: .failed(.unauthorized(.production)), asked: [prod]),
        Row(place: .only(.sandbox), production: .good, sandbox: .good, ends: .found(.sandbox), asked: [sand]),
        Row(
            place: .only(.xcode), production: .good, sandbox: .good, ends: .failed(.environmentNotConfigured(.xcode)),
            asked: []),
        Row(
            configured: [.production], production: .unknown, sandbox: .good, ends: .failed(.unknownTransactionYet),
            asked: [prod]),
        Row(configured: [.sandbox], production: .good, sandbox: .good, ends: .found(.sandbox), asked: [sand]),
        Row(
            place: .only(.production), configured: [.sandbox], production: .good, sandbox: .good,
            ends: .failed(.environmentNotConfigured(.production)), asked: []),
        Row(
            configured: [], production: .good, sandbox: .good, ends: .failed(.environmentNotConfigured(.production)),
            asked: []),
    ]

    @Test(arguments: rows)
    func `environments are asked in apple's order`(row: Row) async throws {
        let fixture = AppStoreFixture { request in
            request.url.hasPrefix("https://\(Self.prod)/") ? row.production.reply : row.sandbox.reply
        }
        let api = try fixture.api(row.configured, isPreRelease: row.isPreRelease)
        let ends: Ends
        do throws(AppStoreServerError) {
            ends = .found(try await api.transaction("1", in: row.place).environment)
        } catch {
            ends = .failed(error)
        }
        #expect(ends == row.ends)
        let asked = fixture.hosts.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
        #expect(asked == row.asked)
    }

    @Test(arguments: AppStoreCall.all.filter(\.isSearching))
    func `every call about a transaction looks in both environments`(call: AppStoreCall) async throws {
        let fixture = AppStoreFixture([.apple(4_040_010), .json(call.reply, status: call.status)])
        let expected = call.result.replacing("Production", with: "Sandbox")
        #expect(try await call.run(fixture.api()) == expected)
        #expect(fixture.urls == ["https://prod.example\(call.target)", "https://sand.example\(call.target)"])
    }
}
