/// A storefront of the App Store: its country in three letters, its currency and the locale of its first language.
package struct Storefront: Hashable, Sendable {
    /// ISO 3166-1 alpha-3, as Xcode writes it.
    package let code: String
    package let currency: Currency
    /// The locale in Xcode's spelling, `zh_CN`.
    package let locale: String

    /// - Returns: nil for a storefront that is not in the table.
    package init?(_ code: String) {
        guard let found = Self.common.first(where: { $0.code == code }) else { return nil }
        self = found
    }

    /// The first storefront that sells in a currency.
    package init?(selling currency: Currency) {
        guard let found = Self.common.first(where: { $0.currency == currency }) else { return nil }
        self = found
    }

    private init(code: String, currency: Currency, locale: String) {
        self.code = code
        self.currency = currency
        self.locale = locale
    }

    /// The larger storefronts; of several that sell in one currency, the first is taken for that currency.
    package static let common: [Storefront] = table.split(separator: "\n").compactMap { line in
        let parts = line.split(separator: " ").map(String.init)
        guard parts.count == 3, let currency = Currency(parts[1]) else { return nil }
        return Storefront(code: parts[0], currency: currency, locale: parts[2])
    }

    private static let table = """
        USA USD en_US
        CHN CNY zh_CN
        DEU EUR de
        FRA EUR fr
        ITA EUR it
        ESP EUR es_ES
        NLD EUR nl
        BEL EUR nl
        AUT EUR de
        IRL EUR en_GB
        PRT EUR pt_PT
        FIN EUR fi
        GRC EUR el
        LUX EUR fr
        GBR GBP en_GB
        JPN JPY ja
        KOR KRW ko
        HKG HKD zh_HK
        TWN TWD zh_TW
        SGP SGD en_GB
        AUS AUD en_AU
        NZL NZD en_AU
        CAN CAD en_CA
        CHE CHF de
        SWE SEK sv
        NOR NOK nb
        DNK DKK da
        POL PLN pl
        CZE CZK cs
        HUN HUF hu
        ROU RON ro
        TUR TRY tr
        ISR ILS he
        ARE AED ar
        SAU SAR ar
        QAT QAR ar
        EGY EGP ar
        ZAF ZAR en_GB
        NGA NGN en_GB
        IND INR en_GB
        PAK PKR en_GB
        IDN IDR id
        MYS MYR ms
        PHL PHP en_US
        THA THB th
        VNM VND vi
        KAZ KZT ru
        RUS RUB ru
        BRA BRL pt_BR
        MEX MXN es_MX
        CHL CLP es_MX
        COL COP es_MX
        PER PEN es_MX
        """
}
