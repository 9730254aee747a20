import Domain
import FoundationEssentials
import ProviderKit

// The tests of the modes app and jsapi.
extension WeChatPayProvider {
    /// Reports that payers inside WeChat are sent to another browser.
    var missingAuthorization: [Diagnosis] {
        guard settings.modes.contains(.jsapi), settings.authorization == nil else { return [] }
        return [
            Diagnosis(
                .notice, "oauth",
                "it is not set: the cashier cannot learn inside WeChat who the payer is, and shows how to open it in "
                    + "another browser. Set oauth.app_id and oauth.app_secret of the service account.")
        ]
    }

    /// Tests the app ids of both modes, and the secret of the authorisation.
    func walletDiagnoses() async -> [Diagnosis] {
        var found: [Diagnosis] = []
        for mode in settings.modes where mode == .app || mode == .jsapi {
            for app in settings.apps(of: mode) { found.append(await binding(of: app, mode)) }
        }
        if let step = settings.authorization {
            found.append(await WeChatAuthorization(settings: step, context: context).diagnosis())
        }
        return found
    }

    /// Asks for an order of one fen, which is closed at once, to learn whether the app is bound to the merchant.
    ///
    /// A JSAPI order with an openid that does not exist cannot be made: WeChat Pay says why.
    private func binding(of app: String, _ mode: WeChatPaySettings.Mode) async -> Diagnosis {
        let subject = "app id \(app)"
        let payment: ID<Payment> = IDSource(time: context.time, random: context.random).make()
        do throws(WeChatPayFailure) {
            try await api.ask(payment, app: app, mode.rawValue, openID: mode == .jsapi ? "paydesk-doctor" : nil)
        } catch {
            guard case .refused(let refusal) = error else {
                return Diagnosis(.notice, subject, "no answer from \(settings.base).")
            }
            switch refusal.code {
            case "APPID_MCHID_NOT_MATCH":
                return Diagnosis(
                    .fault, subject, "it is not bound to the merchant number; bind it on the merchant platform.")
            case "NO_AUTH":
                return Diagnosis(
                    .fault, subject, "the merchant may not use \(mode.rawValue); apply for it on the merchant platform."
                )
            // WeChat Pay looked further than at the app.
            case "PARAM_ERROR" where mode == .jsapi: break
            default:
                return Diagnosis(
                    .notice, subject,
                    "WeChat Pay did not say whether it is bound to the merchant: \(refusal.status) "
                        + "\(refusal.code ?? "").")
            }
        }
        return Diagnosis(.good, subject, "it is bound to the merchant number.")
    }
}

extension WeChatPayAPI {
    private struct Prepaid: Decodable { let prepay_id: String? }

    /// Makes an order of one fen and closes it.
    fileprivate func ask(
        _ payment: ID<Payment>, app: String, _ mode: String, openID: String?
    ) async throws(WeChatPayFailure) {
        let _: Prepaid = try await post(
            "/v3/pay/transactions/\(mode)",
            WeChatPayOrder(
                mchid: settings.mchid, appid: app, description: "paydesk doctor", out_trade_no: payment.rawValue,
                time_expire: WeChatPayText.time(payment.madeAt.adding(seconds: 300)), notify_url: context.notifyURL,
                amount: WeChatPayOrder.Amount(total: 1, currency: "CNY"),
                payer: openID.map { WeChatPayOrder.Payer(openid: $0) }))
        _ = try? await status(
            "/v3/pay/transactions/out-trade-no/\(payment.rawValue)/close", WeChatPayClosing(mchid: settings.mchid))
    }
}

extension WeChatAuthorization {
    /// Offers a code that nobody was given: a refusal of the code shows that the secret is right.
    func diagnosis() async -> Diagnosis {
        do throws(ProviderError) {
            _ = try await exchange(code: "paydesk-doctor")
            return Diagnosis(.notice, "oauth", "WeChat took a code that it never gave.")
        } catch {
            guard case .rejected(let reason) = error else {
                return Diagnosis(.notice, "oauth", "no answer from \(settings.base).")
            }
            switch reason {
            case "errcode_40029", "errcode_40163":
                return Diagnosis(.good, "oauth", "app_id and app_secret belong together.")
            case "errcode_40013":
                return Diagnosis(.fault, "oauth", "WeChat does not know app_id; copy the service account's AppID.")
            case "errcode_40125":
                return Diagnosis(
                    .fault, "oauth", "app_secret is not the service account's; set it anew on its platform.")
            default:
                return Diagnosis(
                    .notice, "oauth",
                    "WeChat refused a test with \(reason); check the service account's right to web authorisation.")
            }
        }
    }
}
