import Encodings

/// The right of one browser to act for one user and one purpose, without the app's token.
///
/// Its times are real time, also where business time is moved.
package struct Session: Identified, Sendable, Equatable {
    package static let idPrefix = "ses"

    /// The pages and calls that a session opens.
    package enum Purpose: String, Sendable, CaseIterable {
        /// To buy and pay.
        case checkout
        /// To see what the user owns.
        case portal
    }

    /// The caller that made a session, who alone may end it beside the admins.
    package enum Maker: Hashable, Sendable {
        case user
        /// A partner, by name.
        case partner(String)
        case admin
    }

    /// A SKU, and the days of its option where it has several.
    package struct Plan: Hashable, Sendable {
        package let sku: SKUCode
        package let days: Int64?

        package init(sku: SKUCode, days: Int64?) {
            self.sku = sku
            self.days = days
        }
    }

    package let id: ID<Session>
    package let user: ID<User>
    package let purpose: Purpose
    package let maker: Maker
    package let sale: SessionSale
    /// The plan that the payer chose on the page, or for which the last order was made; nil before that.
    package var chosen: Plan?
    /// The language that the maker or the payer chose: `en` or `zh-Hans`.
    package var locale: String?
    package let createdAt: Timestamp
    /// The time until which it may make an order or another attempt.
    package let expiresAt: Timestamp
    /// The time until which it may read, cancel and refresh.
    package let readableUntil: Timestamp
    /// The time at which its maker, an erasure or a newer session ended it; nil before that.
    package let endedAt: Timestamp?
    /// The step in which WeChat names its payer.
    package var authorization = Authorization.none

    package init(
        id: ID<Session>, user: ID<User>, purpose: Purpose, maker: Maker, sale: SessionSale, chosen: Plan? = nil,
        locale: String?, createdAt: Timestamp, expiresAt: Timestamp, readableUntil: Timestamp, endedAt: Timestamp? = nil
    ) {
        self.id = id
        self.user = user
        self.purpose = purpose
        self.maker = maker
        self.sale = sale
        self.chosen = chosen
        self.locale = locale
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.readableUntil = readableUntil
        self.endedAt = endedAt
    }
}

extension Session {
    /// The step in which WeChat names the payer of a session, which is taken once.
    package enum Authorization: Sendable, Equatable {
        /// The payer was not sent to WeChat.
        case none
        /// The payer was sent, and WeChat has not named them.
        case asked
        /// WeChat has named them to this app.
        case given(appID: String)
    }

    /// The app id of the payer's openid; nil before WeChat has named the payer.
    package var wechatAppID: String? { if case .given(let appID) = authorization { appID } else { nil } }

    /// The seconds within which an answer of WeChat's to the authorisation is taken.
    package static let authorizationSeconds: Int64 = 300

    /// The seconds for which a session reads its order after the order's end.
    package static let readableSeconds: Int64 = 86_400
    /// The lengths of a session in seconds.
    package static let lifetimes: ClosedRange<Int64> = 60...86_400
    /// The largest number of a user's sessions that have neither expired nor ended.
    package static let limit = 20
    /// The languages of the pages.
    package static let locales = ["en", "zh-Hans"]

    /// The seconds of a session whose maker names no length.
    package static func lifetime(_ purpose: Purpose) -> Int64 { purpose == .checkout ? 1_800 : 900 }

    /// The time until which a session may read after it made an order: the later of its own end and a day after the
    /// order's.
    package static func readableUntil(_ expiresAt: Timestamp, orderExpiresAt: Timestamp) -> Timestamp {
        max(expiresAt, orderExpiresAt.adding(seconds: readableSeconds))
    }

    /// Returns whether the token is accepted at this time.
    package func isReadable(at now: Timestamp) -> Bool { endedAt == nil && now < readableUntil }

    /// Returns whether it may make an order or another attempt at this time.
    package func mayBuy(at now: Timestamp) -> Bool { isReadable(at: now) && now < expiresAt }
}

extension SessionSale {
    /// The contract types of a session whose maker names none.
    package static let usualAccept = Set(ContractType.known).subtracting(ContractType.wallets)

    private var namesNoTypes: Bool { accept == Self.usualAccept }

    /// The types that a call of the session may name: where its maker named none, those of wallets too.
    package var nameable: Set<ContractType> { namesNoTypes ? accept.union(ContractType.wallets) : accept }

    /// The types by which the session can be paid; a page inside WeChat gets WeChat's own without being asked.
    package var possible: Set<ContractType> { namesNoTypes ? accept.union([.wechatJSAPI]) : accept }
}

/// The fields that a session's maker gave, which its checkouts cannot leave.
package struct SessionSale: Sendable, Equatable {
    /// The SKUs on offer; empty for every SKU that the platform and currency can be sold.
    package var skus: [SKUCode]
    package var quantity: Int64
    package var days: Int64?
    /// nil for a portal.
    package var currency: Currency?
    package var platform: Platform
    /// The id of an account or a provider kind; nil for any.
    package var provider: String?
    package var accept: Set<ContractType>
    package var returnURL: String?
    package var cancelURL: String?
    package var metadata: [String: String]
    /// The storefront of the payer in ISO 3166 alpha-3.
    package var storefront: String?
    /// The token of Apple's with which its orders are sold outside of the App Store; nil for none.
    package var externalToken: ID<ExternalToken>?

    package init(
        skus: [SKUCode] = [], quantity: Int64 = 1, days: Int64? = nil, currency: Currency? = nil,
        platform: Platform = .web, provider: String? = nil, accept: Set<ContractType> = [], returnURL: String? = nil,
        cancelURL: String? = nil, metadata: [String: String] = [:], storefront: String? = nil
    ) {
        self.skus = skus
        self.quantity = quantity
        self.days = days
        self.currency = currency
        self.platform = platform
        self.provider = provider
        self.accept = accept
        self.returnURL = returnURL
        self.cancelURL = cancelURL
        self.metadata = metadata
        self.storefront = storefront
    }
}

/// A session's token: `pds_` and the 43 base64url characters of 32 random bytes.
///
/// Only its SHA-256 is stored; the text is in no log, event, error or provider call.
package struct SessionToken: Sendable {
    package static let prefix = "pds_"
    package static let bytes = 32

    package let text: String

    /// Makes a token from 32 random bytes.
    package init(_ bytes: [UInt8]) { text = Self.prefix + Base64URL.encoded(bytes) }

    /// - Returns: nil unless the text has exactly that form.
    package init?(_ text: String) {
        guard text.utf8.count == 47, text.hasPrefix(Self.prefix),
            text.utf8.dropFirst(4).allSatisfy({ $0.isWord || $0 == UInt8(ascii: "-") })
        else { return nil }
        self.text = text
    }
}
