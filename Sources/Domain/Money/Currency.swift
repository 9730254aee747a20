/// An ISO 4217 currency: three upper-case letters and its number of minor digits.
public struct Currency: Hashable, Sendable {
    /// The alphabetic code, `CNY`.
    public let code: String

    /// - Returns: nil unless the code is three letters A–Z that ISO 4217 lists (funds, metals and test codes are not).
    public init?(_ code: String) {
        guard Self.known.contains(code) else { return nil }
        self.code = code
    }

    private init(listed code: String) { self.code = code }

    /// The yuan renminbi.
    public static let cny = Currency(listed: "CNY")

    /// The number of digits after the decimal point: 2, but 0 or 3 for a few (ISO 4217, table A.1).
    public var minorDigits: Int {
        if Self.withoutMinorUnit.contains(code) { return 0 }
        return Self.withThreeDigits.contains(code) ? 3 : 2
    }

    private static let withoutMinorUnit: Set<String> = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF",
    ]
    private static let withThreeDigits: Set<String> = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]
    private static let known = Set(codes)
    /// Every code that ISO 4217 lists for money that is spent.
    package static let codes =
        """
        AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY \
        COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR \
        ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK \
        MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF \
        SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU \
        UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
        """.split(separator: " ").map(String.init)
}

extension Currency: CustomStringConvertible {
    public var description: String { code }
}

extension Currency: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let code = try container.decode(String.self)
        guard let currency = Currency(code) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be an ISO 4217 currency")
        }
        self = currency
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(code)
    }
}
