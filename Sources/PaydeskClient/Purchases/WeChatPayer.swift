/// The app at WeChat under which somebody pays, and the payer in it.
public struct WeChatPayer: Sendable, Equatable {
    /// The app's id, one of the account's; nil where the account has one for the type.
    public let appID: String?
    /// The payer's openid, which belongs to the app id; only `wechat_jsapi` needs it.
    public let openID: String?

    public init(appID: String? = nil, openID: String? = nil) {
        self.appID = appID
        self.openID = openID
    }
}
