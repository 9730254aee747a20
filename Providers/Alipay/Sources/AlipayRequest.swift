import Domain
import FoundationEssentials
import ProviderKit

/// A signed request to the gateway.
///
/// The signed text has all parameters except `sign` and empty ones, with `sign_type`: unencoded, sorted by name, joined
/// as `name=value&…`.
struct AlipayRequest: Sendable {
    /// The parameters of the query: all except `biz_content`, with the signature.
    private let common: [String: String]
    private let content: String

    /// - Returns: nil where signing fails.
    init?(
        _ method: String, _ content: [String: String], at time: Timestamp, _ settings: AlipaySettings,
        more: [String: String] = [:]
    ) {
        guard let json = AlipayRequest.json(content) else { return nil }
        var common = [
            "app_id": settings.appID, "method": method, "format": "JSON", "charset": "utf-8", "sign_type": "RSA2",
            "timestamp": AlipayText.time(time), "version": "1.0",
        ]
        common.merge(settings.proof.parameters) { $1 }
        common.merge(more) { $1 }
        common = common.filter { !$0.value.isEmpty }
        let signed = common.merging(["biz_content": json]) { $1 }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        guard let signature = settings.privateKey.sign(Data(signed.utf8)) else { return nil }
        common["sign"] = signature
        self.common = common
        self.content = json
    }

    /// Returns the address for a payer's browser.
    func address(_ gateway: String) -> String {
        "\(gateway)?\(text)"
    }

    /// The request with its signature, as `name=value&…` with encoded values.
    var text: String { FormFields.encoded(common.merging(["biz_content": content]) { $1 }) }

    /// Returns the request of a server's call.
    func call(_ gateway: String, maxReplyBytes: Int) -> OutgoingRequest {
        OutgoingRequest(
            method: "POST", url: "\(gateway)?\(FormFields.encoded(common))",
            headers: [
                (name: "Content-Type", value: "application/x-www-form-urlencoded;charset=utf-8"),
                (name: "Accept", value: "application/json"), (name: "User-Agent", value: "paydesk"),
            ],
            body: Data(FormFields.encoded(["biz_content": content]).utf8), maxReplyBytes: maxReplyBytes)
    }

    /// Encodes the content; equal content has the same text, so that a repeated call is the same.
    private static func json(_ content: [String: String]) -> String? {
        try? JSONText.line(content.filter { !$0.value.isEmpty })
    }
}
