import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// The calls of the protocol, each a signed POST with a signed answer.
struct Plugin: Sendable {
    private struct Name: Decodable {
        let call: String
    }

    let bank: Bank
    let secrets: Secrets
    /// Lets `paydesk conformance` play payers and set the clock: never where money is.
    let rehearses: Bool

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        let bank = bank
        on(router, "manifest") { (_: ManifestCall, _) in Manifest() }
        on(router, "payments/open") { (call: OpenCall, _) in try await bank.open(call) }
        on(router, "payments/query") { (call: PaymentCall, _) in await bank.query(call) }
        on(router, "payments/cancel") { (call: PaymentCall, _) in await bank.cancel(call) }
        on(router, "refunds/make") { (call: RefundCall, _) in try await bank.refund(call) }
        on(router, "refunds/query") { (call: RefundCall, _) in await bank.query(refund: call) }
        on(router, "setups/open") { (call: OpenSetupCall, _) in try await bank.open(call) }
        on(router, "setups/query") { (call: SetupCall, _) in await bank.query(setup: call.setup_id) }
        on(router, "setups/cancel") { (call: SetupCall, _) in await bank.cancel(setup: call) }
        on(router, "mandates/charge") { (call: ChargeCall, now) in try await bank.charge(call, at: now) }
        on(router, "mandates/verify") { (call: MandateCall, _) in try await bank.verify(call) }
        on(router, "mandates/charges") { (call: ChargesCall, _) in await bank.charges(call) }
        on(router, "mandates/revoke") { (call: MandateCall, _) in await bank.revoke(call) }
        addPages(router)
        if rehearses { addRehearsal(router) }
        return router
    }

    private func on<Call: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ router: Router<BasicRequestContext>, _ name: String,
        _ answer: @escaping @Sendable (Call, Int64) async throws -> Answer
    ) {
        router.post(RouterPath(name)) { [self] request, _ in
            let body = Data(try await request.body.collect(upTo: 64 << 10).readableBytesView)
            func header(_ name: String) -> String { HTTPField.Name(name).flatMap { request.headers[$0] } ?? "" }
            let now = (rehearses ? Int64(header("rehearsal-time")) : nil) ?? Int64(Date().timeIntervalSince1970)
            let id = header("webhook-id")
            guard
                secrets.isGenuine(
                    id: id, timestamp: header("webhook-timestamp"), signatures: header("webhook-signature"), body,
                    at: now)
            else { return Response(status: .unauthorized) }
            // A body that was signed for another path is refused.
            guard (try? JSONDecoder().decode(Name.self, from: body))?.call == name,
                let call = try? JSONDecoder().decode(Call.self, from: body)
            else { return Response(status: .badRequest) }
            do {
                return sealed(200, try JSONEncoder().encode(try await answer(call, now)), id, now)
            } catch let refusal as Refusal {
                return sealed(refusal.status, try JSONEncoder().encode(refusal), id, now)
            }
        }
    }

    /// An answer has an id of its own that says which call it answers.
    private func sealed(_ status: Int, _ body: Data, _ id: String, _ now: Int64) -> Response {
        var headers = HTTPFields()
        for (name, value) in secrets.headers("re_\(id)", at: now, body) {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(
            status: .init(code: status), headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }

    private func letter(_ notice: Notice, id: String, at now: Int64) throws -> (letter: Letter, body: Data) {
        let body = try JSONEncoder().encode(notice)
        return (Letter(headers: secrets.headers(id, at: now, body), body: String(decoding: body, as: UTF8.self)), body)
    }
}

// The payer's side.
extension Plugin {
    private func addPages(_ router: Router<BasicRequestContext>) {
        router.get("pay/{id}") { [bank] _, context in
            let known = await bank.page(try context.parameters.require("id"))
            let account =
                known.terms.isEmpty
                ? "" : "<p>\(Self.escaped(known.terms))<p><label>Account <input name=account></label>"
            let page = "<!doctype html>\(known.state)<form method=post>\(account)<button>Pay</button></form>"
            return Response(
                status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: page)))
        }
        router.post("pay/{id}") { [self] request, context in
            let id = try context.parameters.require("id")
            let form = String(buffer: try await request.body.collect(upTo: 1 << 10))
            let account = URLComponents(string: "?\(form)")?.queryItems?.first { $0.name == "account" }?.value
            if let told = await bank.act(id, "succeeded", account: (account?.isEmpty ?? true) ? nil : account) {
                Task { try await send(told.notice, id: "evt_\(UUID().uuidString)", to: told.url) }
            }
            return Response(status: .seeOther, headers: [.location: "/pay/\(id)"])
        }
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    /// Sends a notification until it is stored, or for an hour: the same event, signed anew, because a signature ends.
    private func send(_ notice: Notice, id: String, to url: String) async throws {
        for pause in [0, 5, 60, 600, 3_600] {
            try await Task.sleep(for: .seconds(pause))
            let made = try letter(notice, id: id, at: Int64(Date().timeIntervalSince1970))
            var request = HTTPClientRequest(url: url)
            request.method = .POST
            for (name, value) in made.letter.headers { request.headers.add(name: name, value: value) }
            request.body = .bytes(ByteBuffer(bytes: made.body))
            let reply = try? await HTTPClient.shared.execute(request, timeout: .seconds(10))
            if reply?.status == .ok { return }
        }
    }
}

// The rehearsal.
extension Plugin {
    private func addRehearsal(_ router: Router<BasicRequestContext>) {
        on(router, "rehearsal/begin") { (_: BeginCall, _) in Begun() }
        on(router, "rehearsal/act") { [self] (call: ActCall, now) in
            let status = ["succeed": "succeeded", "fail": "failed"][call.act] ?? "other"
            guard let told = await bank.act(call.payment_id ?? call.setup_id ?? "", status) else {
                return Acted(taken: false, notification: nil)
            }
            let made = try letter(told.notice, id: "evt_\(UUID().uuidString)", at: now)
            return Acted(taken: true, notification: made.letter)
        }
        on(router, "rehearsal/mandates") { [self] (call: PlayCall, now) in
            let played = await bank.play(call)
            let made = try played.notice.map { try letter($0, id: "evt_\(UUID().uuidString)", at: now) }
            return Acted(taken: played.taken, notification: made?.letter)
        }
        on(router, "rehearsal/effects") { [bank] (call: EffectsCall, _) in await bank.effects(call) }
        on(router, "rehearsal/notification") { [self] (call: NotificationCall, now) in
            let event = call.event
            let said = Said(
                payment_id: event.payment_id ?? "", refund_id: event.refund_id, status: event.status,
                amount: event.amount)
            var notice = Notice(type: event.type)
            switch event.type {
            case "payment": notice.payment = said
            case "refund": notice.refund = said
            case "setup": notice.setup = await bank.query(setup: event.setup_id ?? "").setup
            case "mandate":
                notice.mandate = MandateNotice(subscription_id: event.subscription_id ?? "", status: event.status)
            default: notice.dispute = said
            }
            return NotificationAnswer(notification: try letter(notice, id: event.id, at: now).letter)
        }
    }
}
