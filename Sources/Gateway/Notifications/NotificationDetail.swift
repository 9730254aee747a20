import Domain
import FoundationEssentials
import ProviderKit
import Store

/// A notification with its verification, its facts and its raw text, for admins.
package struct NotificationDetail: Encodable, Sendable {
    /// A step of the verification.
    package struct Step: Encodable, Sendable, Equatable {
        let name: String
        let ok: Bool
        let detail: String
    }

    /// A fact that the notification states.
    package struct Fact: Encodable, Sendable, Equatable {
        let type: String
        /// The id of the payment, or of the store's original transaction.
        let subject: String
        let detail: String
    }

    private let view: NotificationView
    private let steps: [Step]
    private let facts: [Fact]
    private let headers: [String: String]?
    private let query: String?
    private let body: String?
    private let encoding: String?

    private enum CodingKeys: String, CodingKey {
        case steps, facts, headers, query, body, encoding = "body_encoding"
    }

    /// - Parameter raw: the message as it arrived; nil where it was deleted or is not shown.
    fileprivate init(_ view: NotificationView, facts: [ProviderFact], raw: RawNotification?) {
        self.view = view
        steps = Step.all(refusal: view.reason)
        self.facts = facts.map(Fact.init)
        headers = raw.map { raw in
            Dictionary(raw.headers.map { ($0.name.lowercased(), SecretHeaders.shown($0.name, $0.value)) }) {
                "\($0), \($1)"
            }
        }
        query = raw.flatMap { $0.query.isEmpty ? nil : $0.query }
        let text = raw.flatMap { raw -> String? in
            guard !raw.body.contains(0) else { return nil }
            return String(data: raw.body, encoding: .utf8)
        }
        body = text ?? raw?.body.base64EncodedString()
        encoding = raw != nil && text == nil ? "base64" : nil
    }

    package func encode(to encoder: any Encoder) throws {
        try view.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(steps, forKey: .steps)
        try fields.encode(facts, forKey: .facts)
        try fields.encode(headers, forKey: .headers)
        try fields.encode(query, forKey: .query)
        try fields.encode(body, forKey: .body)
        try fields.encode(encoding, forKey: .encoding)
    }
}

extension NotificationDetail.Step {
    /// The steps in their order, each with what it checks and the reasons with which it fails.
    private static let order: [(name: String, detail: String, reasons: Set<String>)] = [
        ("account", "an account takes notifications at this address", ["unsupported"]),
        ("certificate", "what signs it belongs to the provider", ["certificate"]),
        ("signature", "the message is signed as the provider signs", ["signature"]),
        ("time", "the signature is of our time", ["time"]),
        ("content", "the message can be read", ["unreadable"]),
        (
            "subject", "it is about this account's app, merchant and mode",
            ["other_app", "other_merchant", "other_mode", "other_payment", "bad_money"]
        ),
    ]

    /// The steps of a verification: all of them, or those up to the one that failed.
    static func all(refusal: String?) -> [Self] {
        guard let refusal else { return order.map { Self(name: $0.name, ok: true, detail: $0.detail) } }
        let failed = order.firstIndex { $0.reasons.contains(refusal) } ?? order.count - 1
        return order.prefix(failed).map { Self(name: $0.name, ok: true, detail: $0.detail) }
            + [Self(name: order[failed].name, ok: false, detail: refusal)]
    }
}

extension NotificationDetail.Fact {
    fileprivate init(_ fact: ProviderFact) {
        switch fact {
        case .payment(let report):
            let (word, detail) = Self.words(report.outcome)
            self.init(
                type: "payment.\(word)", subject: report.payment.rawValue,
                detail: [detail, report.reference].compactMap(\.self).joined(separator: " "))
        case .refund(let report):
            let (word, detail): (String, String?) =
                switch report.outcome {
                case .pending: ("pending", nil)
                case .succeeded: ("succeeded", nil)
                case .failed(let reason): ("failed", reason)
                case .reversed: ("reversed", nil)
                }
            let parts = [report.refund?.rawValue, Self.text(report.amount), detail, report.reference]
            self.init(
                type: "refund.\(word)", subject: report.payment.rawValue,
                detail: parts.compactMap(\.self).joined(separator: " "))
        case .dispute(let report):
            self.init(
                type: "dispute.\(report.outcome)", subject: report.payment.rawValue,
                detail: [Self.text(report.amount), report.reference].compactMap(\.self).joined(separator: " "))
        case .setup(let report):
            let (word, detail): (String, String?) =
                switch report.outcome {
                case .pending: ("pending", nil)
                case .succeeded(let mandate): ("succeeded", mandate.label)
                case .failed(let reason): ("failed", reason)
                case .cancelled: ("cancelled", nil)
                }
            self.init(type: "setup.\(word)", subject: report.setup.rawValue, detail: detail ?? "")
        case .mandate(let report):
            let (word, detail): (String, String?) =
                switch report.event {
                case .made(let mandate): ("made", mandate.label)
                case .ended, .customerDeleted: ("ended", nil)
                }
            self.init(type: "mandate.\(word)", subject: report.subscription.rawValue, detail: detail ?? "")
        case .externalToken(let notice):
            self.init(
                type: notice.isReminder ? "external_token.reminder" : "external_token.created",
                subject: notice.token.externalPurchaseID, detail: notice.token.type ?? "")
        case .consent(let rescission):
            self.init(
                type: "consent.rescinded", subject: "apptx_\(rescission.appTransactionID)", detail: rescission.bundleID)
        case .store(let statement):
            let subject = statement.purchase?.originalTransactionID ?? statement.renewal?.originalTransactionID ?? ""
            let type = statement.asksForConsumption ? "consumption" : statement.purchase == nil ? "renewal" : "purchase"
            let parts = [
                statement.purchase?.productID, statement.purchase?.transactionID,
                statement.purchase.flatMap { Self.text($0.price) }, statement.renewal?.nextProductID,
            ]
            self.init(
                type: "store.\(type)", subject: subject, detail: parts.compactMap(\.self).joined(separator: " "))
        }
    }

    private static func text(_ money: Money?) -> String? { money.map { "\($0.decimal) \($0.currency)" } }

    private static func words(_ outcome: PaymentOutcome) -> (word: String, detail: String?) {
        switch outcome {
        case .accepted: ("accepted", nil)
        case .pending(let status): ("pending", status)
        case .succeeded(let money): ("succeeded", text(money))
        case .failed(let reason): ("failed", reason)
        case .tryFailed(let reason): ("try_failed", reason)
        case .cancelled: ("cancelled", nil)
        }
    }
}

/// Hides the values of headers that are credentials.
private enum SecretHeaders {
    private static let parts = ["authorization", "cookie", "token", "secret", "api-key", "apikey", "password"]

    static func shown(_ name: String, _ value: String) -> String {
        let name = name.lowercased()
        return parts.contains { name.contains($0) } ? "***" : value
    }
}

extension Notifications {
    /// Finds a notification with the steps of its verification and its facts.
    ///
    /// - Parameter showsRaw: true for callers who may see the message itself, which may contain personal data.
    /// - Throws: `notFound`.
    package func find(_ notification: String, showsRaw: Bool) async throws(GatewayError) -> NotificationDetail {
        guard let id = ID<Domain.Notification>(notification) else { throw .unknown(.notification, notification) }
        let found = try await store.read { db in
            (try db.notifications.find(id), try db.notifications.findFacts(id), try db.notifications.findRaw(id))
        }
        guard let summary = found.0, let facts = found.1, let kept = found.2 else {
            throw .unknown(.notification, notification)
        }
        var raw: RawNotification?
        if showsRaw, let body = kept.body, let head = kept.headers {
            do { raw = try SealedNotification.open(body: body, head: head, id, by: keyRing) } catch {
                throw .internalError
            }
        }
        let stated = (try? JSONDecoder().decode([ProviderFact].self, from: Data(facts.utf8))) ?? []
        return NotificationDetail(NotificationView(summary), facts: stated, raw: raw)
    }
}
