/// The offer of a transaction, or of the next renewal.
public struct AppleOffer: Hashable, Sendable {
    /// `offerType`.
    public let type: AppleCode<AppleOfferType>
    /// `offerIdentifier`: the promotional offer's id or the offer code's name.
    public let identifier: String?
    /// `offerDiscountType`.
    public let discount: AppleCode<AppleOfferDiscount>?
    /// `offerPeriod`, an ISO 8601 duration such as `P1M`.
    public let period: String?

    /// - Returns: nil where there is no `offerType`.
    init?(_ claims: ClaimReader) {
        let identifier = claims.identifier("offerIdentifier")
        let discount: AppleCode<AppleOfferDiscount>? = claims.code("offerDiscountType")
        let period = claims.identifier("offerPeriod")
        guard let type: AppleCode<AppleOfferType> = claims.code("offerType") else { return nil }
        self.type = type
        self.identifier = identifier
        self.discount = discount
        self.period = period
    }
}
