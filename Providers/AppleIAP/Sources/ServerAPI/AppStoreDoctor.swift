import AppleTrust
import Domain
import FoundationEssentials
import ProviderKit

extension AppStoreServerAPI {
    /// A transaction id that does not exist, so that the answer only depends on the token and the app.
    private static let nobodys = "100000000000000"

    /// Tests the key, the issuer, the app and the clock in every configured environment, without retries.
    package func diagnose() async -> AppStoreDiagnosis {
        var probes: [AppleEnvironment: AppStoreProbe] = [:]
        var skew: Int64?
        for environment in environments {
            let (probe, itsSkew) = await probe(environment)
            probes[environment] = probe
            skew = skew ?? itsSkew
        }
        return AppStoreDiagnosis(
            bundleID: bundleID,
            findings: AppStoreDiagnosis.findings(
                production: probes[.production], sandbox: probes[.sandbox], clockSkew: skew))
    }

    private func probe(_ environment: AppleEnvironment) async -> (AppStoreProbe, Int64?) {
        do throws(AppStoreServerError) {
            let request = try Self.transactionRequest(Self.nobodys)
            let reply = try await exchange(request, in: environment)
            let error = reply.error(to: request, in: environment, now: time.milliseconds())
            let probe = Self.probe(reply.status, error)
            // A proxy's clock is not Apple's.
            if case .notApple = probe { return (probe, nil) }
            return (probe, reply.serverTime.map { time.now.rawValue - $0.rawValue })
        } catch .retryable(.ownLimit, _) {
            return (.rateLimited, nil)
        } catch {
            return (.unreachable, nil)
        }
    }

    private static func probe(_ status: Int, _ error: AppStoreServerError?) -> AppStoreProbe {
        switch error {
        case nil, .unknownTransactionYet, .notFound, .invalidRequest, .pagingExpired, .outcomeUnknown, .pagingLoop,
            .tooManyPages, .environmentNotConfigured:
            .accepted
        case .unauthorized: .unauthorized
        case .permanent(4_000_002, _): .wrongApp(code: 4_000_002)
        case .permanent(4_040_003, _): .wrongApp(code: 4_040_003)
        case .permanent: .accepted
        case .retryable(.rateLimited, _): .rateLimited
        case .retryable: .troubled(status: status)
        case .unexpectedReply: .notApple(status: status)
        }
    }
}

extension IncomingReply {
    /// The time in the `Date` header (RFC 9110 section 5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    var serverTime: Timestamp? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let words = (header("date") ?? "").split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])) else {
            return nil
        }
        let text = "\(words[3])-\(month < 9 ? "0" : "")\(month + 1)-\(words[1])T\(words[4])Z"
        guard let date = try? Date.ISO8601FormatStyle().parse(text) else { return nil }
        return Timestamp(Int64(date.timeIntervalSince1970))
    }
}
