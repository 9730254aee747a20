import HTTPTypes

/// The header fields that HTTPTypes has no name for.
extension HTTPField.Name {
    static let requestID = named("X-Request-Id")
    static let idempotencyKey = named("Idempotency-Key")
    static let idempotencyReplayed = named("Idempotency-Replayed")
    static let referrerPolicy = named("Referrer-Policy")

    /// - Parameter name: a valid field name (RFC 9110 section 5.1); a test asks for each.
    private static func named(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .cookie }
}
