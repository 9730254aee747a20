/// A payer as a wallet knows them: the app in which they pay, and their name there.
public struct WalletPayer: Hashable, Sendable {
    /// The merchant's app at the wallet; nil for the only one of the account.
    public var appID: String?
    /// The payer's name at WeChat, which belongs to one app id.
    public var openID: String?

    public init(appID: String? = nil, openID: String? = nil) {
        self.appID = appID
        self.openID = openID
    }
}

extension WalletPayer {
    /// Returns whether a text has the form of an openid: 1 to 128 letters, digits, `_` and `-`.
    package static func isOpenID(_ text: String) -> Bool { text.isWord(1...128, or: "-") }
}
