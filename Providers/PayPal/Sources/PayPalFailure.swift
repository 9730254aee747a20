import FoundationEssentials
import ProviderKit

/// The failures of a call to PayPal.
typealias PayPalFailure = ServiceFailure<PayPalRefusal>

/// An error answer of PayPal's, without its message.
struct PayPalRefusal: ServiceRefusal {
    /// A call with the same key is running, or had other parameters: its result stands.
    private static let running = [
        "PREVIOUS_REQUEST_IN_PROGRESS", "DUPLICATE_REQUEST_ID", "PAYPAL_REQUEST_ID_PREVIOUSLY_USED",
    ]
    /// Refusals of a capture because of another one, which took the money or may still take it.
    private static let capturedBefore = [
        "ORDER_ALREADY_CAPTURED", "ORDER_COMPLETION_IN_PROGRESS", "DUPLICATE_INVOICE_ID",
    ]

    let status: Int
    /// The name, `UNPROCESSABLE_ENTITY`, `INVALID_REQUEST` …; nil where the body is not PayPal's.
    let name: String?
    /// The issue of PayPal's error: `ORDER_NOT_APPROVED`, `INSTRUMENT_DECLINED` ….
    let issue: String?

    init(status: Int, name: String?, issue: String? = nil) {
        self.status = status
        self.name = name
        self.issue = issue
    }

    init(_ reply: IncomingReply) {
        struct Body: Decodable {
            struct Detail: Decodable { let issue: String? }
            let name: String?
            let error: String?
            let details: [Detail]?
        }
        let body = try? JSONDecoder().decode(Body.self, from: reply.body)
        self.init(
            status: reply.status, name: PayPalText.word(body?.name ?? body?.error),
            issue: PayPalText.word(body?.details?.first?.issue))
    }

    /// True where PayPal has no such object.
    var isMissing: Bool { status == 404 && name == "RESOURCE_NOT_FOUND" }

    /// True where neither this capture nor an earlier one took the money.
    var refusesCapture: Bool {
        status == 422 && name != nil && !(Self.running + Self.capturedBefore).contains(reason)
    }

    var reason: String { issue ?? name ?? "refused" }

    func providerError(_ unknown: ProviderError) -> ProviderError {
        // A key, a right or a limit: nothing was done.
        if [401, 403, 429].contains(status) { return .unavailable }
        guard (400..<500).contains(status), ![408, 409, 425].contains(status), name != nil,
            !Self.running.contains(reason)
        else { return unknown }
        return .rejected(reason: reason)
    }
}
