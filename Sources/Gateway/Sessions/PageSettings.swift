import Crypto
package import Domain
package import FoundationEssentials

/// The operator's settings of the pages that payers see: `pages` of `paydesk.yaml`.
package struct PageSettings: Sendable, Equatable {
    /// An image in one of the forms that browsers show.
    package struct Logo: Sendable, Equatable {
        package let mediaType: String
        package let content: Data

        package init(mediaType: String, content: Data) {
            self.mediaType = mediaType
            self.content = content
        }

        /// The path at which the image is served, which changes with its content.
        package var path: String {
            "/assets/logo-\(Hex.encoded(SHA256.hash(data: content)).prefix(16))"
        }
    }

    /// The merchant's name; empty for the host of `public_url`.
    package var name: String
    package var logo: Logo?
    /// A colour as `#` and six hexadecimal digits.
    package var accent: String
    package var supportURL: String?
    package var termsURL: String?
    package var privacyURL: String?
    package var merchantLines: [String]
    /// `en` or `zh-Hans`.
    package var defaultLocale: String

    package init(
        name: String = "", logo: Logo? = nil, accent: String = "#0a6cff", supportURL: String? = nil,
        termsURL: String? = nil, privacyURL: String? = nil, merchantLines: [String] = [], defaultLocale: String = "en"
    ) {
        self.name = name
        self.logo = logo
        self.accent = accent
        self.supportURL = supportURL
        self.termsURL = termsURL
        self.privacyURL = privacyURL
        self.merchantLines = merchantLines
        self.defaultLocale = defaultLocale
    }
}

/// The merchant's appearance on the pages that payers see.
package struct Branding: Encodable, Sendable, Equatable {
    package let name: String
    @Nullable package private(set) var logo_url: String?
    package let accent: String
    @Nullable package private(set) var support_url: String?
    @Nullable package private(set) var terms_url: String?
    @Nullable package private(set) var privacy_url: String?
    package let merchant_lines: [String]
    /// True in development, and where every enabled account is in its provider's test mode: no money moves.
    package let test: Bool

    /// - Parameter isTest: true where no money moves.
    package init(_ pages: PageSettings, publicURL: String, isTest: Bool) {
        name = pages.name.isEmpty ? WebAddress(publicURL)?.host ?? publicURL : pages.name
        logo_url = pages.logo?.path
        accent = pages.accent
        support_url = pages.supportURL
        terms_url = pages.termsURL
        privacy_url = pages.privacyURL
        merchant_lines = pages.merchantLines
        test = isTest
    }
}
