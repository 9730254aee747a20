/// `commitmentInfo`: the commitment of a subscription that is billed monthly.
public struct AppleCommitment: Hashable, Sendable {
    /// Which billing period of the commitment this is, from 1.
    public let billingPeriodNumber: Int64?
    public let totalBillingPeriods: Int64?
    /// The price of the whole commitment, in milliunits.
    public let price: Int64?
    /// When the commitment ends, in milliseconds since 1970-01-01 UTC.
    public let expiresDate: Int64?

    /// - Returns: nil where `claims` has no `commitmentInfo`.
    static func read(_ claims: ClaimReader) throws(AppleRefusal) -> AppleCommitment? {
        guard let object = try claims.object("commitmentInfo") else { return nil }
        return try AppleCommitment(object)
    }

    private init(_ claims: ClaimReader) throws(AppleRefusal) {
        billingPeriodNumber = try claims.integer("billingPeriodNumber", in: ClaimReader.int32)
        totalBillingPeriods = try claims.integer("totalBillingPeriods", in: ClaimReader.int32)
        price = try claims.milliunits("commitmentPrice")
        expiresDate = try claims.date("commitmentExpiresDate")
    }
}
