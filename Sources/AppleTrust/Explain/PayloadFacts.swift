/// The facts that are shown of an unverified JSON object.
enum PayloadFacts {
    static let limit = 64

    static func facts(_ json: JSONDocument) -> [AppleFact] {
        json.root.prefix(limit).map { AppleFact(name: SafeText.line($0.name), value: value($0.value, of: json)) }
    }

    static func kind(_ json: JSONDocument) -> AppleExplanation.Kind {
        if json.root["notificationType"] != nil { return .notification }
        if json.root["transactionId"] != nil { return .transaction }
        if json.root["autoRenewStatus"] != nil || json.root["autoRenewProductId"] != nil { return .renewalInfo }
        return json.root["receiptType"] == nil ? .unknown : .appTransaction
    }

    /// Returns the app and environment that the payload names; in a notification one of four objects names them.
    ///
    /// Renewal information names no app: a value there is ignored, as the verifier ignores it.
    static func audience(_ json: JSONDocument) -> (bundleID: String?, environment: String?) {
        let root = ClaimReader(json)
        let names = ["data", "summary", "appData", "externalPurchaseToken"]
        let content = names.lazy.compactMap { root.object($0) }.first
        let holder =
            kind(json) == .notification
            ? content ?? root.object(besides: names) { $0.has("bundleId") } ?? root : root
        let bundleID = kind(json) == .renewalInfo ? nil : holder.identifier("bundleId")
        return (bundleID, holder.text(kind(json) == .appTransaction ? "receiptType" : "environment"))
    }

    private static func value(_ node: JSONNode, of json: JSONDocument) -> String {
        switch node {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let range): SafeText.line(String(decoding: json.bytes[range], as: UTF8.self))
        case .string: SafeText.line(json.string(node) ?? "")
        case .array(let elements): "list of \(elements.count)"
        case .object(let members): "object with \(members.count) members"
        }
    }
}
