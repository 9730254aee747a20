import AppleTrust
import Domain
import FoundationEssentials
import ProviderKit

/// Apple's External Purchase Server API: sends reports and asks for them, each call once.
///
/// Its bearer is the token of the App Store Server API, made with the account's In-App Purchase key for the bundle of the
/// external purchase's token. Source: Apple, External Purchase Server API 1.2.
struct ExternalPurchaseAPI: Sendable {
    private static let path = "externalPurchase/v1/reports"
    private static let addresses: [Domain.Environment: String] = [
        .production: "https://api.storekit.apple.com", .sandbox: "https://api.storekit-sandbox.apple.com",
    ]
    private static let maxReplyBytes = 256 << 10

    private let addresses: [Domain.Environment: String]
    private let tokens: [String: AppStoreTokens]
    private let http: any HTTPTransport
    private let time: TimeSource

    /// The environments to which reports can be sent.
    var environments: Set<Domain.Environment> { Set(addresses.keys) }

    /// - Returns: nil without a key.
    init?(_ account: ProviderAccount, _ context: ProviderContext) throws(ProviderSetupError) {
        guard let settings = try AppStoreSettings(account) else { return nil }
        let own = account.settings.object("external_purchases")
        let urls: [Domain.Environment: String] = [
            .production: own.text("production_url"), .sandbox: own.text("sandbox_url"),
        ]
        var addresses: [Domain.Environment: String] = [:]
        if settings.isBox {
            // The key is that of the App Store in a box, which only the box itself accepts.
            guard urls.values.allSatisfy(\.isEmpty) else { return nil }
            addresses[.sandbox] = settings.addresses[.sandbox]
        } else {
            for (environment, url) in urls {
                addresses[environment] = url.isEmpty ? Self.addresses[environment] : AppStoreSettings.base(url)
            }
        }
        self.addresses = addresses
        let bundles = account.settings.objects("apps").map { $0.text("bundle_id") }
        let key = settings.key
        tokens = Dictionary(
            bundles.prefix(settings.isBox ? 1 : bundles.count).map { ($0, AppStoreTokens(key: key, bundleID: $0)) }
        ) { first, _ in first }
        http = context.http
        time = context.time
    }

    func send(_ body: Data, of bundleID: String, in environment: Domain.Environment) async -> ExternalReportAnswer {
        let result = await call("PUT", Self.path, body, of: bundleID, in: environment)
        guard case .success(let reply) = result else { return result.failure }
        if reply.isSuccess { return .accepted }
        if let common = common(reply) { return common }
        if reply.status == 400, let faults = Faults.words(of: reply.body) { return .refused(faults) }
        // A duplicate, a malformed request, or a trouble of Apple's: only a question tells.
        return .unknown("status \(reply.status)\(Faults.code(of: reply.body).map { ", error \($0)" } ?? "")")
    }

    func find(
        report requestIdentifier: String, of bundleID: String, in environment: Domain.Environment
    ) async -> ExternalReportAnswer {
        let path = "\(Self.path)/\(requestIdentifier)"
        let result = await call("GET", path, Data(), of: bundleID, in: environment)
        guard case .success(let reply) = result else {
            // A question changes nothing, so whatever it was asked about stays as it was.
            return .unknown("Apple did not answer")
        }
        if reply.isSuccess { return .accepted }
        if let common = common(reply) { return common }
        // Apple answers NotFoundError with status 400.
        if reply.status == 404 || reply.status == 400 && Faults.code(of: reply.body) != nil { return .notThere }
        return .unknown("status \(reply.status)")
    }

    /// The answers that mean the same for both calls.
    private func common(_ reply: IncomingReply) -> ExternalReportAnswer? {
        switch reply.status {
        case 401: .unauthorized
        case 429: .rateLimited(until: reply.retryAfter(now: time.milliseconds()) ?? time.milliseconds() + 60_000)
        default: nil
        }
    }

    private func call(
        _ method: String, _ path: String, _ body: Data, of bundleID: String, in environment: Domain.Environment
    ) async -> Result<IncomingReply, CallFailure> {
        guard let address = addresses[environment], let source = tokens[bundleID] else { return .failure(.noKey) }
        let token: String
        do throws(AppStoreServerError) { token = try source.token(now: time.now).text } catch {
            return .failure(.notSent)
        }
        var headers = [
            (name: "Authorization", value: "Bearer \(token)"), (name: "Accept", value: "application/json"),
            (name: "User-Agent", value: "paydesk"),
        ]
        if !body.isEmpty { headers.append((name: "Content-Type", value: "application/json")) }
        let request = OutgoingRequest(
            method: method, url: "\(address)/\(path)", headers: headers, body: body, maxReplyBytes: Self.maxReplyBytes)
        do throws(HTTPTransportError) {
            let reply = try await http.send(request)
            // A refused token is never used again.
            if reply.status == 401 { source.forget() }
            return .success(reply)
        } catch {
            return .failure(error == .notSent ? .notSent : .unanswered)
        }
    }

    fileprivate enum CallFailure: Error {
        case noKey, notSent, unanswered
    }

    /// Apple's faults in an answer, as printable text of limited length.
    private enum Faults {
        private struct Body: Decodable {
            let errors: [Fault]?
            let errorCode: Int64?
        }

        private struct Fault: Decodable {
            let errorCode: Lenient<Int64>?
            let errorMessage: Lenient<String>?
            let fieldName: Lenient<String>?
            let lineItemId: Lenient<String>?
        }

        /// Returns the faults of a SendReportErrorResponse; nil for another answer.
        static func words(of body: Data) -> String? {
            guard let errors = (try? JSONDecoder().decode(Body.self, from: body))?.errors, !errors.isEmpty else {
                return nil
            }
            let words = errors.prefix(20).map { fault in
                [
                    fault.fieldName?.value, fault.errorMessage?.value, fault.errorCode?.value.map { "(\($0))" },
                    fault.lineItemId?.value,
                ].compactMap(\.self).map(printable).joined(separator: " ")
            }
            return words.joined(separator: "; ")
        }

        static func code(of body: Data) -> Int64? { (try? JSONDecoder().decode(Body.self, from: body))?.errorCode }

        private static func printable(_ text: String) -> String {
            String(
                String.UnicodeScalarView(text.unicodeScalars.prefix(200).map { (" "..."~").contains($0) ? $0 : "?" }))
        }
    }
}

extension Result<IncomingReply, ExternalPurchaseAPI.CallFailure> {
    /// The answer of a call to which Apple did not reply.
    fileprivate var failure: ExternalReportAnswer {
        switch self {
        case .success, .failure(.unanswered): .unknown("Apple did not answer")
        case .failure(.noKey): .noKey
        case .failure(.notSent): .notSent("Apple cannot be reached")
        }
    }
}
