import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PaydeskClient

/// Answers from a list, in its order.
actor ScriptedTransport: ClientTransport {
    private var replies: [(status: Int, headers: [String: String], body: String)?]
    private(set) var requests: [ClientRequest] = []

    /// - Parameter replies: nil is no answer.
    init(_ replies: [(status: Int, headers: [String: String], body: String)?]) { self.replies = replies }

    func send(_ request: ClientRequest) async throws -> ClientReply {
        requests.append(request)
        guard !replies.isEmpty, let reply = replies.removeFirst() else { throw PaydeskError.noAnswer("nothing") }
        return ClientReply(status: reply.status, headers: reply.headers, body: Data(reply.body.utf8))
    }

    nonisolated func stream(_: ClientRequest) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { $0.finish() }
    }
}

@Suite("The client's calls")
struct ClientCallTests {
    private static let common = """
        "order_id":"ord_x","payment_id":"pay_x","provider":"p","status":"pending","recurring":false,
        "amount":{"value":3990,"currency":"CNY"},"expires_at":1736860000,"poll_after_ms":2000
        """
    private static let usage =
        #"{"code":200,"msg":"success","data":{"meter":"m","limit":null,"used":1,"remaining":null,"resets_at":5}}"#

    private static func desk(_ transport: ScriptedTransport, time: ClientTime = .immediate) -> Paydesk {
        Paydesk(
            baseURL: URL(string: "https://pay.example/base/")!, token: { "token" },
            storage: ClientStorage(folder: FileManager.default.temporaryDirectory), language: .chinese,
            transport: transport, time: time)
    }

    static let contracts: [(text: String, payment: Contract.Payment)] = [
        (
            #""type":"apple_iap","product_ids":["a","b"],"app_account_token":"715da2ef-82e8-41ad-be13-00821e5f74a0","hint":"h""#,
            .appleIAP(
                AppleProducts(
                    productIDs: ["a", "b"], appAccountToken: UUID(uuidString: "715DA2EF-82E8-41AD-BE13-00821E5F74A0")!))
        ),
        (
            #""type":"stripe","stripe":{"publishable_key":"pk","client_secret":"s"}"#,
            .stripe(StripePayment(publishableKey: "pk", clientSecret: "s", method: nil))
        ),
        (#""type":"url","checkout_url":"https://a.example/x?y=1""#, .url(URL(string: "https://a.example/x?y=1")!)),
        (
            #""type":"qr","checkout_url":"weixin://x?pr=1","qr_image_url":"https://a.example/qr.svg""#,
            .qr(QRCode(content: "weixin://x?pr=1", imageURL: URL(string: "https://a.example/qr.svg")))
        ),
        (
            """
            "type":"apple_pay","apple_pay":{"merchant_identifier":"m","country_code":"CN","currency_code":"CNY",
            "supported_networks":["visa"],"merchant_capabilities":["supports3DS"],
            "total":{"label":"L","amount":"39.90"},"application_data":"AA=="}
            """,
            .applePay(
                ApplePayTerms(
                    merchantIdentifier: "m", countryCode: "CN", currencyCode: "CNY", supportedNetworks: ["visa"],
                    merchantCapabilities: ["supports3DS"], total: .init(label: "L", amount: "39.90"),
                    applicationData: "AA=="))
        ),
        (
            #""type":"alipay_app","alipay_app":{"order_string":"app_id=1&biz_content=%7B%7D&sign=a%2Bb"}"#,
            .alipayApp("app_id=1&biz_content=%7B%7D&sign=a%2Bb")
        ),
        (
            """
            "type":"wechat_app","wechat_app":{"appid":"wx1","partnerid":"19","prepayid":"wx2","package":"Sign=WXPay",
            "noncestr":"n","timestamp":"4102444800","sign":"s=="}
            """,
            .wechatApp(
                WeChatAppPayment(
                    appID: "wx1", partnerID: "19", prepayID: "wx2", package: "Sign=WXPay", nonce: "n",
                    timestamp: 4_102_444_800, sign: "s=="))
        ),
        (
            """
            "type":"wechat_jsapi","wechat_jsapi":{"appId":"wx1","timeStamp":"1795680000","nonceStr":"n",
            "package":"prepay_id=wx2","signType":"RSA","paySign":"s=="}
            """,
            .wechatJSAPI(
                WeChatPagePayment(
                    appId: "wx1", timeStamp: "1795680000", nonceStr: "n", package: "prepay_id=wx2", signType: "RSA",
                    paySign: "s=="))
        ),
        (#""type":"none""#, .none),
    ]

    private static func contract(_ members: String) throws -> Contract {
        try JSONDecoder().decode(Contract.self, from: Data("{\(members),\(Self.common)}".utf8))
    }

    @Test(arguments: 0..<9)
    func `a contract of each type is read`(_ number: Int) throws {
        let (text, payment) = Self.contracts[number]
        let contract = try Self.contract(text)
        #expect(contract.payment == payment && contract.orderID == "ord_x" && contract.amount.value == 3_990)
    }

    @Test func `a contract of a newer server is kept as it came`() throws {
        let contract = try Self.contract(#""type":"carrier_pigeon","pigeon":{"loft":7}"#)
        guard case .unknown(let type, .object(let members)) = contract.payment else {
            Issue.record("\(contract.payment)")
            return
        }
        #expect(type == "carrier_pigeon" && members["pigeon"] == .object(["loft": .integer(7)]))
        #expect(members["order_id"] == .text("ord_x") && contract.orderID == "ord_x")
    }

    @Test func `a checkout names the app and the payer at WeChat`() async throws {
        let contract = "{\(Self.contracts[6].text),\(Self.common)}"
        let transport = ScriptedTransport([(200, [:], #"{"code":200,"msg":"success","data":\#(contract)}"#)])
        let payer = WeChatPayer(appID: "wx1", openID: "oUpF8uMuAJO_M2pxb1Q9zNjWeS6o")
        _ = try await Self.desk(transport).checkout(sku: "mug", accept: [.alipayApp, .wechatApp], wallet: payer)
        let sent = try #require(await transport.requests.first?.body)
        let body = try JSONDecoder().decode([String: AttributeValue].self, from: sent)
        #expect(body["accept"] == .list([.text("alipay_app"), .text("wechat_app")]) && body["app_id"] == .text("wx1"))
        #expect(body["payer"] == .object(["wechat_openid": .text("oUpF8uMuAJO_M2pxb1Q9zNjWeS6o")]))
    }

    @Test func `a known contract without its members is no contract`() {
        for type in ContractType.allCases {
            #expect(throws: DecodingError.self, "\(type)") { try Self.contract(#""type":"\#(type.rawValue)""#) }
        }
        for seconds in [#""x""#, #""-1""#, #""4294967296""#, "1795680000", "null"] {
            #expect(throws: DecodingError.self, "\(seconds)") {
                try Self.contract(
                    """
                    "type":"wechat_app","wechat_app":{"appid":"wx1","partnerid":"19","prepayid":"wx2",
                    "package":"Sign=WXPay","noncestr":"n","timestamp":\(seconds),"sign":"s=="}
                    """)
            }
        }
    }

    @Test func `the ids of errors are the API document's`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let document = try JSONDecoder().decode(
            AttributeValue.self, from: try Data(contentsOf: root.appendingPathComponent("docs/openapi.json")))
        var value = document
        for name in ["components", "schemas", "ErrorID", "enum"] {
            guard case .object(let members) = value else { break }
            value = members[name] ?? .null
        }
        guard case .list(let ids) = value else {
            Issue.record("the document has no ErrorID")
            return
        }
        #expect(Set(ErrorID.allCases.map(\.rawValue)) == Set(ids.compactMap(\.text)))
    }

    @Test func `a refusal has the server's words, and what is no answer of Paydesk's is none`() async throws {
        let refused = #"{"code":404,"msg":"没有","error":"order_not_found","details":{"a":1},"request_id":"req_1"}"#
        let desk = Self.desk(ScriptedTransport([(404, [:], refused)]))
        await #expect(
            throws: PaydeskError.refused(
                Refusal(
                    status: 404, error: .orderNotFound, id: "order_not_found", message: "没有", requestID: "req_1",
                    details: ["a": .integer(1)], retryAfter: nil))
        ) { try await desk.order("x") }
        for (status, body) in [(200, "<html>"), (200, "{}"), (404, "nginx"), (200, #"{"code":404,"data":{}}"#)] {
            let desk = Self.desk(ScriptedTransport(Array(repeating: (status, [:], body), count: 60)))
            await #expect(throws: PaydeskError.foreignAnswer(status: status)) { try await desk.order("x") }
        }
    }

    @Test func `lost answers and 5xx are tried again with the same key, for half a minute`() async throws {
        let waits = Mutex<[Int64]>([])
        let now = Mutex<Int64>(0)
        let time = ClientTime(
            now: { now.withLock { $0 } },
            sleep: { seconds in
                waits.withLock { $0.append(seconds) }
                now.withLock { $0 += seconds }
            })
        let busy = #"{"code":503,"msg":"","error":"temporarily_unavailable","details":{}}"#
        let transport = ScriptedTransport([
            nil, (503, ["retry-after": "5"], busy), (502, [:], "bad gateway"), (200, [:], Self.usage),
        ])
        _ = try await Self.desk(transport, time: time).consume("m")
        let keys = Set(await transport.requests.map { $0.headers["Idempotency-Key"] })
        #expect(keys.count == 1 && keys.first != nil && waits.withLock { $0 } == [1, 5, 4])
        waits.withLock { $0 = [] }
        await #expect(throws: PaydeskError.noAnswer("nothing")) {
            try await Self.desk(ScriptedTransport([]), time: time).consume("m")
        }
        #expect(waits.withLock { $0.reduce(0, +) } <= 30)
    }

    @Test func `after a 401 another token is asked for, once`() async throws {
        let asked = Mutex(0)
        let denied = (401, [String: String](), #"{"code":401,"msg":"","error":"unauthenticated","details":{}}"#)
        func desk(_ transport: ScriptedTransport) -> Paydesk {
            Paydesk(
                baseURL: URL(string: "https://pay.example")!,
                token: {
                    let number = asked.withLock { count in
                        count += 1
                        return count
                    }
                    return "token \(number)"
                },
                storage: ClientStorage(folder: FileManager.default.temporaryDirectory), transport: transport)
        }
        let transport = ScriptedTransport([denied, (200, [:], Self.usage)])
        _ = try await desk(transport).usage("a/b c")
        #expect(await transport.requests.map { $0.headers["Authorization"] } == ["Bearer token 1", "Bearer token 2"])
        #expect(await transport.requests[0].url.absoluteString == "https://pay.example/v1/public/usage/a%2Fb%20c")
        await #expect(throws: PaydeskError.self) { try await desk(ScriptedTransport([denied, denied])).usage("m") }
        #expect(asked.withLock { $0 } == 4)
    }

    @Test func `a user is read from a token, and nothing else is one`() {
        #expect(Login(token: DeskServer.token("小明"), claim: "sub")?.user == "小明")
        for text in ["", "a.b", "a.b.c", "pds_x", DeskServer.token(""), "a.e30.c"] {
            #expect(Login(token: text, claim: "sub") == nil)
        }
    }

    @Test func `a checkout is paid, and its order is waited for`() async throws {
        try await DeskServer.with { server in
            let desk = server.desk(of: "alice")
            let outcome = try await desk.pay(sku: "vip_month", platform: .web, accept: [.url]) { contract in
                guard case .url(let page) = contract.payment else { return false }
                let paid = await LoopbackHTTP.send(
                    "POST", page.path, port: server.port,
                    headers: ["Content-Type": "application/x-www-form-urlencoded"], body: "outcome=succeed")
                return paid?.status == 200
            }
            guard case .paid(let order) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(order.sku == "vip_month" && order.amount == ClientMoney(value: 3_990, currency: "CNY"))
            let contract = try await desk.checkout(sku: "coins", platform: .ios)
            guard case .appleIAP(let products) = contract.payment else {
                Issue.record("\(contract)")
                return
            }
            #expect(products.productIDs == ["com.example.coins"])
            #expect(products.appAccountToken == (try await desk.membership().appAccountToken))
            #expect(try await desk.cancel(contract.orderID).status == "closed")
            #expect(
                try await desk.products().map(\.sku).sorted() == ["coins", "days", "vip_month", "vip_year", "walkie"])
        }
    }

    /// The result of a posted token, whether the sheet is satisfied, and whether the order is asked for afterwards.
    @Test(arguments: [
        ("paid", true, true), ("pending", true, true), ("failed", false, false), ("refused", false, false),
        ("lost", false, true),
    ])
    func `a wallet's token is posted once, and a lost answer is not called a cancellation`(
        _ result: String, _ isAccepted: Bool, _ isAsked: Bool
    ) async throws {
        let order = """
            {"id":"ord_x","status":"open","next_action":"wait","sku":"s","amount":null,"environment":"Sandbox",
             "expires_at":null}
            """
        let reply: (Int, [String: String], String)? =
            switch result {
            case "refused": (400, [:], #"{"code":400,"msg":"no","error":"apple_pay_token_invalid","details":{}}"#)
            case "lost": nil
            default: (200, [:], #"{"code":200,"msg":"","data":{"status":"\#(result)","order":\#(order)}}"#)
            }
        let transport = ScriptedTransport([reply])
        let wallet = WalletAuthorisation(desk: Self.desk(transport), order: "ord_x")
        let answer = await wallet.authorise(
            paymentData: Data([1, 2]), transactionIdentifier: "8f1f", network: "Visa", displayName: nil)
        #expect((answer == .accepted) == isAccepted)
        #expect(Set(await transport.requests.map { $0.headers["Idempotency-Key"] }) == ["apple-pay-8f1f"])
        if isAsked {
            #expect(try await wallet.finish())
        } else {
            await #expect(throws: StorefrontError.cancelled) { try await wallet.finish() }
        }
    }
}

extension ClientTime {
    /// A clock on which waiting takes its time at once.
    static var immediate: ClientTime {
        let now = Atomic64()
        return ClientTime(now: { now.value }, sleep: { now.add($0) })
    }
}

private final class Atomic64: Sendable {
    private let stored = Mutex<Int64>(0)

    var value: Int64 { stored.withLock { $0 } }
    func add(_ seconds: Int64) { stored.withLock { $0 += seconds } }
}
