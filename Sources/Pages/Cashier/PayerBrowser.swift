/// The browser of a payer, as its `User-Agent` names it; `Assets/sdk/accept.js` reads the same.
package struct PayerBrowser: Sendable {
    /// True inside WeChat.
    package let isWeChat: Bool
    /// True where WeChat's sheet can be shown: in a mini program's web view, which names itself, it cannot.
    package let paysByWeChat: Bool
    /// True inside Alipay.
    package let isAlipay: Bool

    /// - Parameter agent: the text of `User-Agent`.
    package init(agent: String) {
        let agent = agent.lowercased()
        isWeChat = agent.contains("micromessenger")
        paysByWeChat = isWeChat && !agent.contains("miniprogram")
        isAlipay = agent.contains("alipayclient")
    }
}
