import Domain
import FoundationEssentials
import ProviderKit

/// The settings of web authorisation: `oauth` of an account.
struct WeChatAuthorizationSettings: Sendable {
    static let officialAuthorizeURL = "https://open.weixin.qq.com/connect/oauth2/authorize"
    static let officialBase = "https://api.weixin.qq.com"

    /// The service account, one of `app_ids.jsapi`.
    let appID: String
    let secret: ProviderSecret<String>
    let authorizeURL: String
    /// The scheme, host and port of the exchange.
    let base: String

    static let schema = SettingsSchema([
        SettingsSchema.Field("app_id", .text, required: true, summary: "The service account, one of app_ids.jsapi."),
        SettingsSchema.Field("app_secret", .secret, required: true, summary: "That account's AppSecret."),
        SettingsSchema.Field(
            "authorize_url", .url, summary: "WeChat's page; \(officialAuthorizeURL) where it is left out."),
        SettingsSchema.Field(
            "api_base", .url,
            summary: "The host that takes codes; \(officialBase) where it is left out; https, except in development."),
    ])

    /// - Parameter appIDs: the apps of the mode `jsapi`; empty without it.
    /// - Returns: nil where it is not set, and after a fault.
    static func read(_ reader: ProviderSettingsReader, appIDs: [String]) -> WeChatAuthorizationSettings? {
        guard reader.settings["oauth"] != nil else { return nil }
        let own = reader.settings.object("oauth")
        let (appID, secret) = (own.text("app_id"), own.text("app_secret"))
        if appIDs.isEmpty {
            reader.fault("oauth", "is without the mode jsapi", "add jsapi to modes, or leave oauth out")
        } else if !appIDs.contains(appID) {
            reader.fault(
                "oauth.app_id", appID.isEmpty ? "is missing" : "is not one of app_ids.jsapi",
                "name the service account, and list it in app_ids.jsapi")
        }
        if !secret.hasBytes(1...128, where: { (0x20...0x7E).contains($0) }) {
            reader.fault(
                "oauth.app_secret", secret.isEmpty ? "is missing" : "is of a wrong form",
                "copy the service account's AppSecret, best as file:path")
        }
        let page = address(reader, own.text("authorize_url"), officialAuthorizeURL, "authorize_url", takesPath: true)
        let base = address(reader, own.text("api_base"), officialBase, "api_base", takesPath: false)
        return WeChatAuthorizationSettings(
            appID: appID, secret: ProviderSecret(secret), authorizeURL: page, base: base)
    }

    private static func address(
        _ reader: ProviderSettingsReader, _ text: String, _ standard: String, _ name: String, takesPath: Bool
    ) -> String {
        guard !text.isEmpty else { return standard }
        guard let address = WebAddress(text), address.isWeb, !address.rest.contains(where: { "?#".contains($0) }),
            takesPath || ["", "/"].contains(address.rest)
        else {
            reader.fault(
                "oauth.\(name)", "is no plain web address",
                takesPath ? "give scheme, host and path alone, or leave it out" : "give scheme and host alone")
            return standard
        }
        if address.scheme != "https", !reader.isDevelopment {
            reader.fault("oauth.\(name)", "is without https, which is for development only", "use https")
        }
        return takesPath ? address.origin + address.rest : address.origin
    }
}

/// WeChat's web authorisation with `snsapi_base`, which names a payer to a service account without a question.
///
/// Source: developers.weixin.qq.com/doc/offiaccount/OA_Web_Apps/Wechat_webpage_authorization.html; its errors come with
/// status 200: 40029 and 40163 for a code that is unknown or was used, 40013 and 40125 for the account's id and secret. The
/// hosts are settings and never taken from a request.
struct WeChatAuthorization: PayerAuthorization {
    private static let timeout: Int64 = 5_000
    private static let replyLimit = 16 << 10

    let settings: WeChatAuthorizationSettings
    let context: ProviderContext

    var appID: String { settings.appID }

    /// The address with its fields in the order that WeChat matches.
    func authorizeURL(state: String, redirect: String) -> String {
        "\(settings.authorizeURL)?appid=\(PercentEncoding.encoded(appID))"
            + "&redirect_uri=\(PercentEncoding.encoded(redirect))&response_type=code&scope=snsapi_base"
            + "&state=\(PercentEncoding.encoded(state))#wechat_redirect"
    }

    private struct Answer: Decodable {
        let openid: String?
        let errcode: Int64?
    }

    func exchange(code: String) async throws(ProviderError) -> String {
        let request = OutgoingRequest(
            method: "GET",
            url: "\(settings.base)/sns/oauth2/access_token?appid=\(PercentEncoding.encoded(appID))"
                + "&secret=\(PercentEncoding.encoded(settings.secret.value))&code=\(PercentEncoding.encoded(code))"
                + "&grant_type=authorization_code",
            headers: [(name: "Accept", value: "application/json"), (name: "User-Agent", value: "paydesk")],
            timeoutMilliseconds: Self.timeout, maxReplyBytes: Self.replyLimit)
        let reply: IncomingReply
        do throws(HTTPTransportError) { reply = try await context.http.send(request) } catch {
            context.log.write(.warning, "wechat: no answer to an authorisation", [:])
            throw .unavailable
        }
        // Errors have status 200, a number, and a message that is not logged.
        guard reply.status == 200, let answer = try? UnambiguousJSON.decode(Answer.self, from: reply.body) else {
            context.log.write(.warning, "wechat: no answer to an authorisation", ["status": "\(reply.status)"])
            throw .unavailable
        }
        if let code = answer.errcode, code != 0 {
            context.log.write(.notice, "wechat: an authorisation was refused", ["errcode": "\(code)"])
            throw .rejected(reason: "errcode_\(code)")
        }
        guard let openID = answer.openid, !openID.isEmpty else { throw .unavailable }
        return openID
    }
}
