import Domain
import FoundationEssentials
import ProviderKit

/// Reads the facts of a notification once its signature is verified and its resource is decrypted.
extension WeChatPayProvider {
    private struct Notification: Decodable {
        let id: String
        let event_type: String
        let resource_type: String
        let resource: WeChatPayResource
    }

    /// The limit of a fetch in milliseconds; WeChat Pay waits five seconds for its acknowledgement.
    static let fetchTimeout: Int64 = 3_000

    /// - Throws: `unproven` for a forged notification, `unavailable` where it cannot be verified now.
    func verify(_ notification: RawNotification) async throws(ProviderError) {
        let signature = try WeChatPaySignature(
            notification.headers, now: notification.receivedAt ?? context.time.now)
        let key = try await api.platform.key(signature.serial, timeout: Self.fetchTimeout)
        guard signature.isGood(notification.body, by: key) else { throw .unproven(.signature) }
    }

    /// - Throws: `rejected` for a genuine notification that cannot be decoded.
    func reading(_ body: Data) async throws(ProviderError) -> ReceivedNotification {
        guard let event = try? UnambiguousJSON.decode(Notification.self, from: body),
            event.resource_type == "encrypt-resource"
        else { throw .rejected(reason: "malformed_body") }
        try ReceivedNotification.check(eventID: event.id, type: event.event_type)
        let plain: Data
        do throws(WeChatPayResource.Fault) { plain = try event.resource.opened(by: settings.apiKey.value) } catch {
            if error == .authentication {
                context.log.write(
                    .error, "wechat pay: a genuine notification does not decrypt: api_v3_key is another account's")
            }
            throw .rejected(reason: "undecryptable_resource")
        }
        do throws(WeChatPayFailure) {
            return ReceivedNotification(
                eventID: event.id, type: event.event_type, facts: try await facts(event.event_type, plain),
                acknowledgement: Acknowledgement(status: 204, body: ""))
        } catch {
            if case .unsayable(let reason) = error, reason != "bad_amount" { throw .rejected(reason: reason) }
            throw error.providerError(afterChange: false)
        }
    }

    /// Reads the facts from the object's state, not from the event's name; other types have no facts.
    private func facts(_ type: String, _ plain: Data) async throws(WeChatPayFailure) -> [ProviderFact] {
        if type.hasPrefix("TRANSACTION.") {
            let transaction: WeChatPayTransaction = try read(plain)
            guard let payment = transaction.payment else { return [] }
            return [.payment(try transaction.report(payment, settings, apps: try await apps(of: payment)))]
        }
        if type.hasPrefix("REFUND.") {
            let refund: WeChatPayRefund = try read(plain)
            guard let payment = ID<Payment>(refund.out_trade_no) else { return [] }
            guard refund.mchid == settings.mchid else { throw .unproven(.otherMerchant) }
            let reference = WeChatPayText.word(refund.refund_id)
            let id = ID<Refund>(refund.out_refund_no)
            guard id != nil || reference != nil else { throw .unsayable("bad_refund_number") }
            warn(of: refund)
            return [
                .refund(
                    RefundReport(
                        payment: payment, refund: id, outcome: refund.outcome, amount: try refund.money(),
                        reference: reference, paymentReference: WeChatPayText.word(refund.transaction_id)))
            ]
        }
        return []
    }

    private func read<Object: Decodable>(_ plain: Data) throws(WeChatPayFailure) -> Object {
        guard let object = try? UnambiguousJSON.decode(Object.self, from: plain) else {
            throw .unsayable("malformed_resource")
        }
        return object
    }
}
