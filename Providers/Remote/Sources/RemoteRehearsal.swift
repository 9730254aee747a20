import Crypto
import Domain
import FoundationEssentials
import ProviderKit
public import ProviderTesting

extension RemoteProvider: Rehearsable {
    /// Returns rehearsals with a plugin in its rehearsal mode, in which it plays its payers; in other modes it lacks
    /// these calls.
    public func rehearsals() async throws(RehearsalGap) -> @Sendable () -> any Rehearsal {
        let manifest: RemoteManifest
        switch await asked() {
        case .failure(let error): throw RehearsalGap("cannot begin: \(error.words)")
        case .success(let found): manifest = found
        }
        let begun: RehearsalBegun
        do throws(ProviderError) { begun = try await api.send(RemoteRequest(.begin)) } catch {
            throw RehearsalGap("cannot begin: the plugin is not in its rehearsal mode")
        }
        let rehearsal = RemoteRehearsal(
            account: account, settings: settings, manifest: manifest, payersCanFail: begun.payers_can_fail,
            http: context.http)
        return { rehearsal }
    }
}

/// The answer with which a plugin begins its rehearsal mode.
struct RehearsalBegun: Decodable {
    let payers_can_fail: Bool
}

struct RehearsalActed: Decodable {
    let taken: Bool
    /// The notification that the act causes.
    let notification: RemoteLetter?
}

struct RehearsalEffects: Decodable {
    let payments: Int
    let refunds: [Money]
    /// The set-ups, where they were asked for.
    let setups: Int?
}

struct RehearsalNotification: Decodable {
    let notification: RemoteLetter?
}

/// A notification in the form in which the plugin sends it.
struct RemoteLetter: Decodable, Sendable {
    let headers: [String: String]
    let body: String

    var raw: RawNotification {
        RawNotification(
            method: .post, headers: headers.map { (name: $0.key.lowercased(), value: $0.value) }, body: Data(body.utf8))
    }
}

/// An event for which the plugin makes its notification.
struct RemoteEvent: Encodable, Sendable {
    var id: String
    var type: String
    var status: String
    var payment_id: String?
    var refund_id: String?
    var amount: Money?
    var setup_id: String?
    var subscription_id: String?
}

/// A plugin in its rehearsal mode, as the payment service of the kit.
struct RemoteRehearsal: Rehearsal {
    let account: ProviderAccount
    let settings: RemoteSettings
    let manifest: RemoteManifest
    let payersCanFail: Bool
    let http: any HTTPTransport

    var secrets: [String] { account.settings.texts("secrets") }
    var signatureWindow: Int64? { RemoteLimits.window }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        try RemoteProvider(account: account, context: context, pin: RemotePin(manifest))
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply {
        try await RehearsalTransport(http: http, time: context.time).send(request)
    }

    func changesSomething(_ request: OutgoingRequest) -> Bool {
        RemoteCall.changes.contains { request.url.hasSuffix("/\($0.rawValue)") }
    }

    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        try await acted(act == .succeed ? "succeed" : "fail", payment, context)
    }

    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        try await acted("unknown_status", payment, context)
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        var request = RemoteRequest(.effects)
        request.payment_id = payment.rawValue
        let effects: RehearsalEffects = try await api(context).send(request)
        return UpstreamEffects(payments: effects.payments, refunds: effects.refunds)
    }

    /// Adds fields and signs the answer again with the account's secret, which the plugin has as well.
    func addingUnknownFields(to reply: IncomingReply) -> IncomingReply? {
        guard let body = UnknownFields.adding(to: reply.body),
            let seal = RemoteSeal({ header in reply.headers.first { $0.name == header }?.value })
        else { return nil }
        return IncomingReply(
            status: reply.status, headers: signed(body, seal.id, seal.timestamp).headers, body: body)
    }

    func notification(
        _ event: RehearsedEvent, _ signature: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        let now = context.time.now.rawValue
        if event.what == .unreadable {
            return raw(Data("[1, 2".utf8), signed(Data("[1, 2".utf8), "evt_unreadable", now))
        }
        guard let described = Self.described(event) else { return nil }
        var request = RemoteRequest(.notification)
        request.event = described
        let answer: RehearsalNotification = try await api(context).send(request)
        guard let genuine = answer.notification?.raw else { return nil }
        if event.hasUnknownFields {
            guard let body = UnknownFields.adding(to: genuine.body), let seal = RemoteSeal(genuine.header) else {
                throw RehearsalGap("got a notification without a body or a signature")
            }
            return raw(body, signed(body, seal.id, seal.timestamp))
        }
        return resealed(genuine, signature, random: context.random)
    }

    private func acted(_ act: String, _ payment: ID<Payment>, _ context: ProviderContext) async throws -> Bool {
        var request = RemoteRequest(.act)
        request.payment_id = payment.rawValue
        request.act = act
        let acted: RehearsalActed = try await api(context).send(request)
        return acted.taken
    }

    /// Makes calls with the kit's clock, without the faults that the kit injects.
    func api(_ context: ProviderContext) -> RemoteAPI {
        let line = RehearsalTransport(http: http, time: context.time)
        return RemoteAPI(
            settings: settings,
            context: ProviderContext(
                http: line, time: context.time, random: context.random, book: context.book,
                notifyURL: context.notifyURL, publicURL: context.publicURL))
    }
}

// Notifications with other signatures than the plugin's.
extension RemoteRehearsal {
    private func signed(_ body: Data, _ id: String, _ time: Int64) -> RemoteSeal {
        RemoteSeal(id: id, timestamp: time, body: body, secret: settings.secrets[0])
    }

    private func raw(_ body: Data, _ seal: RemoteSeal) -> RawNotification {
        RawNotification(method: .post, headers: seal.headers, body: body)
    }

    private func resealed(
        _ genuine: RawNotification, _ signature: RehearsedSignature, random: RandomSource
    ) -> RawNotification {
        let code: String?
        switch signature {
        case .genuine: return genuine
        case .missing: code = nil
        case .forged: code = "v1," + Data(random.bytes(32)).base64EncodedString()
        case .anothers:
            let other = SymmetricKey(data: Data(random.bytes(32)))
            let head = "\(genuine.header(RemoteSeal.id) ?? "").\(genuine.header(RemoteSeal.time) ?? "")."
            let made = HMAC<SHA256>.authenticationCode(for: Data(head.utf8) + genuine.body, using: other)
            code = "v1," + Data(made).base64EncodedString()
        }
        let headers = genuine.headers.filter { $0.name != RemoteSeal.signature }
        return RawNotification(
            method: .post, headers: headers + (code.map { [(name: RemoteSeal.signature, value: $0)] } ?? []),
            body: genuine.body)
    }

    /// - Returns: nil for an event that no plugin can send.
    private static func described(_ event: RehearsedEvent) -> RemoteEvent? {
        let digest = SHA256.hash(data: Data(event.id.utf8)).prefix(12)
        let id = "evt_" + Hex.encoded(digest)
        let payment = event.payment.payment.rawValue
        func of(
            _ type: String, _ status: String, _ amount: Money? = nil, refund: ID<Refund>? = nil
        ) -> RemoteEvent {
            RemoteEvent(
                id: id, type: type, status: status, payment_id: payment, refund_id: refund?.rawValue, amount: amount)
        }
        switch event.what {
        case .paymentSucceeded(let money): return of("payment", "succeeded", money)
        case .paymentFailed: return of("payment", "failed")
        case .paymentCancelled: return of("payment", "cancelled")
        case .paymentPending: return of("payment", "waiting")
        case .unknownStatus: return of("payment", "kit_unknown_status", event.payment.amount)
        case .refundCreated(let refund, let money): return of("refund", "pending", money, refund: refund)
        case .refundSucceeded(let refund, let money): return of("refund", "succeeded", money, refund: refund)
        case .refundFailed(let refund, let money): return of("refund", "failed", money, refund: refund)
        case .disputeOpened(let money): return of("dispute", "opened", money)
        case .disputeWon(let money): return of("dispute", "won", money)
        case .disputeLost(let money): return of("dispute", "lost", money)
        case .foreignPaymentSucceeded(let money):
            var foreign = of("payment", "succeeded", money)
            foreign.payment_id = "invoice-77"
            return foreign
        case .anothersPaymentSucceeded, .unreadable: return nil
        }
    }
}

/// Sends the kit's time to a plugin in its rehearsal mode.
struct RehearsalTransport: HTTPTransport {
    static let header = "rehearsal-time"

    let http: any HTTPTransport
    let time: TimeSource

    func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        var request = request
        request.headers.append((name: Self.header, value: "\(time.now.rawValue)"))
        return try await http.send(request)
    }
}
