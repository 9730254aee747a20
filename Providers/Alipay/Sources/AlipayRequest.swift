import Domain
import FoundationEssentials
import ProviderKit

/// A signed request to the gateway.
///
/// Signed are all parameters, `sign_type` among them, with their values as they are: sorted by name, joined as
/// `name=value&…`, without the empty ones and `sign`.
struct AlipayRequest: Sendable {
    /// All but `biz_content`, with the signature: the query.
    private let common: [String: String]
    private let content: String

    /// - Returns: nil where nothing can be signed.
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

    /// The address that a payer's browser opens.
    func address(_ gateway: String) -> String {
        "\(gateway)?\(FormFields.encoded(common.merging(["biz_content": content]) { $1 }))"
    }

    /// The call of a server.
    func call(_ gateway: String, maxReplyBytes: Int) -> OutgoingRequest {
        OutgoingRequest(
            method: "POST", url: "\(gateway)?\(FormFields.encoded(common))",
            headers: [
                (name: "Content-Type", value: "application/x-www-form-urlencoded;charset=utf-8"),
                (name: "Accept", value: "application/json"), (name: "User-Agent", value: "paydesk"),
            ],
            body: Data(FormFields.encoded(["biz_content": content]).utf8), maxReplyBytes: maxReplyBytes)
    }

    /// The same text for the same content, so that a repeated call is the same.
    private static func json(_ content: [String: String]) -> String? {
        try? JSONText.line(content.filter { !$0.value.isEmpty })
    }
}
