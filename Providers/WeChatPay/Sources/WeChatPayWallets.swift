import Domain
import FoundationEssentials
import ProviderKit
import _CryptoExtras

/// The first prepay id that WeChat Pay gave for an order, with the app that it is of.
struct WeChatPayPrepaid: Codable, Sendable {
    let app: String
    let prepay: String
    /// A random text that both signatures cover.
    let nonce: String
}

// The parameters for WeChat's own libraries, which the merchant signs.
extension WeChatPayProvider {
    private static func place(_ payment: ID<Payment>) -> String { "prepaid/\(payment.rawValue)" }

    /// Returns the first prepay id of an order, so that a repetition has the same parameters.
    func firstPrepay(
        _ prepay: String, _ app: String, _ payment: ID<Payment>
    ) async throws(ProviderError) -> WeChatPayPrepaid {
        let made = WeChatPayPrepaid(app: app, prepay: prepay, nonce: Hex.encoded(context.random.bytes(16), .upper))
        guard let data = try? JSONEncoder().encode(made) else { throw .outcomeUnknown }
        let kept: Data?
        do throws(ProviderError) {
            kept = try await context.book.update(Self.place(payment)) { $0 == nil ? data : nil }
        } catch {
            // The order was made nevertheless.
            throw .outcomeUnknown
        }
        return kept.flatMap { try? JSONDecoder().decode(WeChatPayPrepaid.self, from: $0) } ?? made
    }

    /// Returns the apps of which an answer about a payment may be: its own, or where it is not known all of the account's.
    func apps(of payment: ID<Payment>) async throws(WeChatPayFailure) -> Set<String> {
        let kept: Data?
        do throws(ProviderError) { kept = try await context.book.value(Self.place(payment)) } catch { throw .notSent }
        let prepaid = kept.flatMap { try? JSONDecoder().decode(WeChatPayPrepaid.self, from: $0) }
        return prepaid.map { [$0.app] } ?? settings.ownApps
    }

    /// Signs the parameters, at the time of the payment's making.
    ///
    /// Four lines are signed, each ended by a line break: the app, the time, the nonce, and the prepay id, bare for an app
    /// and as `package` for JSAPI. Sources: pay.weixin.qq.com/doc/v3/merchant/4012265144, and WeChat Pay's Go library
    /// (services/payments/app/api_app_request_payment.go, services/payments/jsapi/api_jsapi_request_payment.go).
    func sign(
        _ prepaid: WeChatPayPrepaid, _ mode: WeChatPaySettings.Mode, _ payment: ID<Payment>
    ) throws(ProviderError) -> PaymentInstruction {
        let time = String(payment.madeAt.rawValue)
        let package = "prepay_id=\(prepaid.prepay)"
        let last = mode == .app ? prepaid.prepay : package
        let text = "\(prepaid.app)\n\(time)\n\(prepaid.nonce)\n\(last)\n"
        guard
            let raw = try? settings.identity.key.value.signature(
                for: Data(text.utf8), padding: .insecurePKCS1v1_5)
        else { throw .outcomeUnknown }
        let signature = raw.rawRepresentation.base64EncodedString()
        guard mode == .app else {
            return .wechatJSAPI(
                WeChatJSAPIParameters(
                    appId: prepaid.app, timeStamp: time, nonceStr: prepaid.nonce, package: package, signType: "RSA",
                    paySign: signature))
        }
        return .wechatApp(
            WeChatAppParameters(
                appid: prepaid.app, partnerid: settings.mchid, prepayid: prepaid.prepay, package: "Sign=WXPay",
                noncestr: prepaid.nonce, timestamp: time, sign: signature))
    }
}
