/// The facts that are shown of an unverified receipt, under the names of Apple's verifyReceipt.
enum ReceiptFacts {
    /// The number of purchases that are shown; the others are only counted.
    static let purchases = 20

    static func signer(_ message: SignedData) -> [AppleFact] {
        let signer = message.signer
        return [
            AppleFact(name: "digest", value: name(signer.digest)),
            AppleFact(name: "signature", value: name(signer.algorithm)),
            AppleFact(name: "signed attributes", value: signer.signedAttributes == nil ? "none" : "present"),
            AppleFact(name: "certificates", value: "\(message.certificates.count)"),
            AppleFact(name: "content", value: message.content.map { "\($0.count) bytes" } ?? "detached"),
        ]
    }

    static func fields(_ attributes: ReceiptAttributes) -> [AppleFact] {
        let shown = attributes.purchases.prefix(purchases).enumerated().map { index, value in
            AppleFact(name: "in_app \(index + 1)", value: SafeText.line(purchase(value)))
        }
        return facts(attributes, receipt)
            + [AppleFact(name: "in_app", value: "list of \(attributes.purchases.count)")] + shown
    }

    private enum Form { case text, integer, date }

    private static let receipt: [(type: Int64, name: String, form: Form)] = [
        (0, "receipt_type", .text), (1, "app_item_id", .integer), (2, "bundle_id", .text),
        (3, "application_version", .text), (12, "receipt_creation_date", .date), (15, "download_id", .integer),
        (16, "version_external_identifier", .integer), (18, "original_purchase_date", .date),
        (19, "original_application_version", .text), (21, "expiration_date", .date),
    ]

    private static let inApp: [(type: Int64, name: String, form: Form)] = [
        (1702, "product_id", .text), (1703, "transaction_id", .text), (1705, "original_transaction_id", .text),
        (1701, "quantity", .integer), (1704, "purchase_date", .date), (1708, "expires_date", .date),
        (1712, "cancellation_date", .date),
    ]

    private static func purchase(_ value: ArraySlice<UInt8>) -> String {
        guard let attributes = try? ReceiptAttributes(value, repeated: nil, within: .value) else {
            return "cannot be read"
        }
        return facts(attributes, inApp).map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    }

    private static func facts(
        _ attributes: ReceiptAttributes, _ fields: [(type: Int64, name: String, form: Form)]
    ) -> [AppleFact] {
        fields.compactMap { field in
            value(attributes, field.type, field.form).map { AppleFact(name: field.name, value: SafeText.line($0)) }
        }
    }

    /// - Returns: nil for a field that is absent, as an empty date is.
    private static func value(_ attributes: ReceiptAttributes, _ type: Int64, _ form: Form) -> String? {
        do throws(AppleRefusal) {
            switch form {
            case .text: return try attributes.text(type)
            case .integer: return try attributes.integer(type).map { "\($0)" }
            case .date: return try attributes.date(type).flatMap { _ in try? attributes.text(type) }
            }
        } catch {
            return "cannot be read"
        }
    }

    private static func name(_ algorithm: AlgorithmIdentifier) -> String {
        let name =
            switch algorithm.name {
            case CMSOID.sha1: "SHA-1"
            case CMSOID.sha256: "SHA-256"
            case CMSOID.rsa: "RSA"
            case CMSOID.rsaWithSHA1: "RSA over SHA-1"
            case CMSOID.rsaWithSHA256: "RSA over SHA-256"
            default: SafeText.line("\(algorithm.name)")
            }
        return algorithm.isPlain ? name : SafeText.line("\(name) with parameters")
    }
}
