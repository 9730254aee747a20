import Domain
import FoundationEssentials
import ProviderKit
public import ProviderTesting

// The refusals and messages of a plugin, which the kit, working through the provider, cannot test.
extension RemoteProvider {
    public func examineService() async -> [ConformanceReport.Result] {
        var results: [ConformanceReport.Result] = []
        for wrong in WrongCall.allCases {
            results.append(.init(name: "the plugin refuses \(wrong.rawValue)", outcome: await refusal(of: wrong)))
        }
        for place in settings.secrets.indices {
            results.append(
                .init(name: "the plugin takes the account's secret \(place + 1)", outcome: await good(secret: place)))
        }
        results.append(.init(name: "the plugin passes over members that it does not know", outcome: await more()))
        results.append(.init(name: "the plugin notifies of what its payer did", outcome: await notifies()))
        return results
    }

    private enum WrongCall: String, CaseIterable {
        case unsigned = "a call without a signature"
        case forged = "a call with a wrong signature"
        case altered = "a call whose body was altered"
        case late = "a call that is older than five minutes"
        case early = "a call from the future"
        case elsewhere = "a call that was signed for another path"
    }

    /// Makes an opening's request, for tests that alter it.
    private func opening() -> (payment: ID<Payment>, request: RemoteRequest) {
        let ids = IDSource(time: context.time, random: context.random)
        let (payment, order): (ID<Payment>, ID<Order>) = (ids.make(), ids.make())
        var request = RemoteRequest(.open)
        let currency = pin.manifest?.currencies.first ?? .cny
        request.payment_id = payment.rawValue
        request.order_id = order.rawValue
        request.amount = Money(value: 3990, currency: currency)
        request.title = "conformance"
        request.platform = Platform.web.rawValue
        request.notify_url = context.notifyURL
        request.expires_at = context.time.now.adding(seconds: 1_800).rawValue
        request.accepts = (pin.manifest?.contract_types ?? []).map(\.rawValue)
        return (payment, request)
    }

    private func refusal(of wrong: WrongCall) async -> ConformanceReport.Outcome {
        _ = try? await rules()
        let (payment, request) = opening()
        let now = context.time.now.rawValue
        guard let body = try? JSONEncoder().encode(request) else { return .failed(reason: "no call could be made") }
        var time = now
        if wrong == .late { time -= RemoteLimits.window + 2 }
        if wrong == .early { time += RemoteLimits.window + 2 }
        var seal = RemoteSeal(id: "msg_conformance", timestamp: time, body: body, secret: settings.secrets[0])
        if wrong == .forged {
            seal = RemoteSeal(id: "msg_another", timestamp: time, body: body, secret: settings.secrets[0])
        }
        var headers = seal.headers
        if wrong == .forged { headers[0].value = "msg_conformance" }
        if wrong == .unsigned { headers.removeLast() }
        let path: RemoteCall = wrong == .elsewhere ? .cancel : .open
        let status = await status(path, headers, wrong == .altered ? body + Data(" ".utf8) : body, now)
        guard let status, (400...499).contains(status), status != 409 else {
            return .failed(reason: status.map { "it answers \($0)" } ?? "it does not answer")
        }
        guard let effects = try? await effects(payment) else { return .failed(reason: "its effects are not known") }
        return effects.payments == 0 ? .passed : .failed(reason: "it opened a payment all the same")
    }

    private func good(secret place: Int) async -> ConformanceReport.Outcome {
        guard let body = try? JSONEncoder().encode(RemoteRequest(.manifest)) else {
            return .failed(reason: "no call could be made")
        }
        let now = context.time.now.rawValue
        let seal = RemoteSeal(id: "msg_conformance", timestamp: now, body: body, secret: settings.secrets[place])
        let status = await status(.manifest, seal.headers, body, now)
        return status == 200 ? .passed : .failed(reason: status.map { "it answers \($0)" } ?? "it does not answer")
    }

    private func more() async -> ConformanceReport.Outcome {
        guard let body = (try? JSONEncoder().encode(opening().request)).flatMap(UnknownFields.adding) else {
            return .failed(reason: "no call could be made")
        }
        let now = context.time.now.rawValue
        let seal = RemoteSeal(id: "msg_conformance", timestamp: now, body: body, secret: settings.secrets[0])
        let status = await status(.open, seal.headers, body, now)
        return status == 200 ? .passed : .failed(reason: status.map { "it answers \($0)" } ?? "it does not answer")
    }

    private func notifies() async -> ConformanceReport.Outcome {
        guard pin.manifest?.notifications ?? false else {
            return .notApplicable(why: "the manifest has no notifications")
        }
        let (payment, request) = opening()
        do throws(ProviderError) {
            let opened: RemoteOpened = try await api.send(request)
            var act = RemoteRequest(.act)
            act.payment_id = payment.rawValue
            act.act = "succeed"
            let acted: RehearsalActed = try await api.send(act)
            guard let letter = acted.notification else { return .failed(reason: "it sends nothing") }
            let facts = try receiving(letter.raw).facts
            guard case .payment(let report)? = facts.first, facts.count == 1, report.payment == payment,
                let amount = opened.payment.amount, report.outcome == .succeeded(amount)
            else { return .failed(reason: "it states \(facts)") }
            return .passed
        } catch {
            return .failed(reason: "stopped by \(error)")
        }
    }

    private func receiving(_ raw: RawNotification) throws(ProviderError) -> ReceivedNotification { try reading(raw) }

    private func effects(_ payment: ID<Payment>) async throws(ProviderError) -> RehearsalEffects {
        var request = RemoteRequest(.effects)
        request.payment_id = payment.rawValue
        return try await api.send(request)
    }

    /// - Returns: nil without an answer.
    private func status(
        _ call: RemoteCall, _ headers: [(name: String, value: String)], _ body: Data, _ now: Int64
    ) async -> Int? {
        let request = OutgoingRequest(
            method: "POST", url: "\(settings.url)/\(call.rawValue)",
            headers: [(name: "content-type", value: "application/json"), (name: "user-agent", value: "paydesk")]
                + headers, body: body, timeoutMilliseconds: RemoteLimits.callMilliseconds,
            maxReplyBytes: RemoteLimits.body)
        let line = RehearsalTransport(http: context.http, time: context.time)
        return (try? await line.send(request))?.status
    }
}
