import AppleTrust
import FoundationEssentials
import ProviderKit

extension IncomingReply {
    private struct AppleError: Decodable {
        let errorCode: Int64
        let errorMessage: String?
    }

    /// Returns the error of this reply; nil where it holds the answer.
    func error(
        to request: AppStoreRequest, in environment: AppleEnvironment, now: Int64
    ) -> AppStoreServerError? {
        guard !(200...299).contains(status) else { return nil }
        if status == 401 { return .unauthorized(environment) }
        let apple =
            body.count <= request.endpoint.maxReplyBytes ? try? JSONDecoder().decode(AppleError.self, from: body) : nil
        let after = retryAfter(now: now)
        if status == 429 { return .retryable(.rateLimited, after: after) }
        if (500...599).contains(status) {
            // Apple's general error does not say that nothing happened; only the retryable one does.
            guard request.isRepeatable || apple?.errorCode == 5_000_001 else { return .outcomeUnknown }
            return .retryable(apple.map { .apple(code: $0.errorCode) } ?? .status(status), after: after)
        }
        guard let apple, (400...499).contains(status) else {
            return status == 408 || status == 425
                ? .retryable(.status(status), after: after) : .unexpectedReply(status: status)
        }
        return Self.error(apple.errorCode, Self.line(apple.errorMessage ?? ""), after)
    }

    /// Apple's codes are the HTTP status times 10,000 and a number.
    private static func error(_ code: Int64, _ message: String, _ after: Int64?) -> AppStoreServerError {
        switch code {
        case 4_040_002, 4_040_004, 4_040_006, 5_000_000..<6_000_000: .retryable(.apple(code: code), after: after)
        case 4_290_000..<4_300_000: .retryable(.rateLimited, after: after)
        case 4_040_005, 4_040_010: .unknownTransactionYet
        case 4_000_005, 4_000_014, 4_000_017: .pagingExpired(code: code)
        case 4_040_003: .permanent(code: code, message: message)
        case 4_040_000..<4_050_000: .notFound(code: code)
        default: .permanent(code: code, message: message)
        }
    }

    /// Returns the time at which Apple wants the next call, in milliseconds since 1970.
    ///
    /// Apple's `Retry-After` is such a time already; a small number is a proxy's and means seconds from now (RFC 9110).
    /// Never more than an hour from now, because Apple's limits are those of an hour.
    func retryAfter(now: Int64) -> Int64? {
        guard let text = header("retry-after"), let number = Int64(text), number >= 0 else { return nil }
        let time =
            switch number {
            case ...86_400: now + number * 1_000
            case 100_000_000_000...: number
            default: Int64?.none
            }
        return time.map { min(max($0, now), now + 3_600_000) }
    }

    /// Printable ASCII of a bounded length, for a log.
    private static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(200).map { (" "..."~").contains($0) ? $0 : "?" }))
    }
}

/// A field of an answer that nothing hangs on: another form than Apple documents counts as absent.
struct Lenient<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) throws { value = try? decoder.singleValueContainer().decode(Value.self) }
}
