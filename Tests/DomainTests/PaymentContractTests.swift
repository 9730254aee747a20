import Domain
import Testing

struct PaymentContractTests {
    private static let head =
        #""order_id":"ord_00000000000000000000000001","payment_id":"pay_00000000000000000000000002""#

    private static let iap = PaymentInstruction.appleIAP(
        productIDs: ["vip.day7", "vip.day30"], appAccountToken: "3f2b0c1e-5a4d-4e6f-8a9b-0c1d2e3f4a5b", hint: "StoreKit"
    )
    private static let stripe = PaymentInstruction.stripe(publishableKey: "pk_1", clientSecret: "pi_1_secret_2")
    private static let url = PaymentInstruction.url(checkoutURL: "https://pay.example/c?a=1&b=2")
    private static let qr = PaymentInstruction.qr(text: "weixin://wxpay/x")

    private func contract(
        _ instruction: PaymentInstruction, provider: String, status: Payment.State = .pending, recurring: Bool = false,
        qrImageURL: String? = nil
    ) throws -> PaymentContract {
        let account: AccountID = try #require(AccountID(provider))
        return PaymentContract(
            order: try sampleID(1), payment: try sampleID(2), provider: account, status: status, recurring: recurring,
            amount: try money("39.90 CNY"), expiresAt: Timestamp(1_736_860_000), pollAfterMilliseconds: 2_000,
            instruction: instruction, qrImageURL: qrImageURL)
    }

    @Test func `a contract for Apple IAP has the products, the token and a hint`() throws {
        #expect(
            try json(contract(Self.iap, provider: "apple", recurring: true)) == """
                {"amount":{"currency":"CNY","value":3990},"app_account_token":"3f2b0c1e-5a4d-4e6f-8a9b-0c1d2e3f4a5b",\
                "expires_at":1736860000,"hint":"StoreKit",\(Self.head),"poll_after_ms":2000,\
                "product_ids":["vip.day7","vip.day30"],"provider":"apple","recurring":true,"status":"pending",\
                "type":"apple_iap"}
                """)
    }

    @Test func `a contract for Stripe has the key and the secret`() throws {
        #expect(
            try json(contract(Self.stripe, provider: "stripe-main")) == """
                {"amount":{"currency":"CNY","value":3990},"expires_at":1736860000,\(Self.head),"poll_after_ms":2000,\
                "provider":"stripe-main","recurring":false,"status":"pending",\
                "stripe":{"client_secret":"pi_1_secret_2","publishable_key":"pk_1"},"type":"stripe"}
                """)
    }

    @Test func `a contract for an address has it`() throws {
        #expect(
            try json(contract(Self.url, provider: "alipay", status: .created)) == """
                {"amount":{"currency":"CNY","value":3990},"checkout_url":"https://pay.example/c?a=1&b=2",\
                "expires_at":1736860000,\(Self.head),"poll_after_ms":2000,"provider":"alipay","recurring":false,\
                "status":"created","type":"url"}
                """)
    }

    @Test func `a contract for a QR code has its text and its image`() throws {
        #expect(
            try json(contract(Self.qr, provider: "wechat", qrImageURL: "https://pay.example/qr/1.svg")) == """
                {"amount":{"currency":"CNY","value":3990},"checkout_url":"weixin://wxpay/x","expires_at":1736860000,\
                \(Self.head),"poll_after_ms":2000,"provider":"wechat","qr_image_url":"https://pay.example/qr/1.svg",\
                "recurring":false,"status":"pending","type":"qr"}
                """)
    }

    @Test func `a contract for nothing to pay names neither payment nor provider`() throws {
        let contract = PaymentContract(
            order: try sampleID(1), payment: nil, provider: nil, status: .succeeded, recurring: false,
            amount: try money("0.00 CNY"), expiresAt: Timestamp(1_736_860_000), pollAfterMilliseconds: 0,
            instruction: .none)
        #expect(
            try json(contract) == """
                {"amount":{"currency":"CNY","value":0},"expires_at":1736860000,\
                "order_id":"ord_00000000000000000000000001",\
                "payment_id":null,"poll_after_ms":0,"provider":null,"recurring":false,\
                "status":"succeeded","type":"none"}
                """)
    }

    private static let wechatApp = PaymentInstruction.wechatApp(
        WeChatAppParameters(
            appid: "wx1", partnerid: "1900", prepayid: "wx2", package: "Sign=WXPay", noncestr: "N",
            timestamp: "1736860000", sign: "s="))
    private static let wechatJSAPI = PaymentInstruction.wechatJSAPI(
        WeChatJSAPIParameters(
            appId: "wx1", timeStamp: "1736860000", nonceStr: "N", package: "prepay_id=wx2", signType: "RSA",
            paySign: "s="))

    @Test func `a prepay id lives for two hours, and nothing else ends before its order`() {
        for instruction in [Self.wechatApp, Self.wechatJSAPI] {
            #expect(instruction.expiresAt == Timestamp(1_736_867_200))
        }
        for instruction in [Self.qr, Self.url, Self.stripe, .alipayApp(orderString: "a"), .none] {
            #expect(instruction.expiresAt == nil)
        }
    }

    @Test(
        arguments: [
            (.alipayApp, [.ios, .android], [.ios]),
            (.wechatApp, [.ios, .android], [.ios]), (.wechatJSAPI, [.web], []),
            (.url, Platform.allCases, []), (.qr, Platform.allCases, []),
        ] as [(ContractType, [Platform], [Platform])])
    func `platforms rule out what their clients cannot act on, and Apple what it sells itself`(
        type: ContractType, fitting: [Platform], apples: [Platform]
    ) {
        #expect(Platform.allCases.filter(type.fits) == Platform.allCases.filter(fitting.contains))
        #expect(Platform.allCases.filter(type.isApplesOwn) == apples)
    }

    @Test(arguments: [
        ("oUpF8uMuAJO_M2pxb1Q9zNjWeS6o", true), ("o", true), ("-_", true), (String(repeating: "o", count: 128), true),
        (String(repeating: "o", count: 129), false), ("", false), ("o p", false), ("oé", false), ("o\n", false),
        ("o/../x", false),
    ])
    func `an openid has letters, digits, hyphens and underscores`(text: String, isOne: Bool) {
        #expect(WalletPayer.isOpenID(text) == isOne)
    }

    @Test(
        arguments: [
            (
                iap, .appleIAP,
                #"{"app_account_token":"3f2b0c1e-5a4d-4e6f-8a9b-0c1d2e3f4a5b","hint":"StoreKit","#
                    + #""product_ids":["vip.day7","vip.day30"],"type":"apple_iap"}"#
            ),
            (
                stripe, .stripe,
                #"{"stripe":{"client_secret":"pi_1_secret_2","publishable_key":"pk_1"},"type":"stripe"}"#
            ),
            (url, .url, #"{"checkout_url":"https://pay.example/c?a=1&b=2","type":"url"}"#),
            (qr, .qr, #"{"checkout_url":"weixin://wxpay/x","type":"qr"}"#),
            (
                .alipayApp(orderString: "app_id=1&sign=a%2Fb"), .alipayApp,
                #"{"alipay_app":{"order_string":"app_id=1&sign=a%2Fb"},"type":"alipay_app"}"#
            ),
            (
                wechatApp, .wechatApp,
                #"{"type":"wechat_app","wechat_app":{"appid":"wx1","noncestr":"N","package":"Sign=WXPay","#
                    + #""partnerid":"1900","prepayid":"wx2","sign":"s=","timestamp":"1736860000"}}"#
            ),
            (
                wechatJSAPI, .wechatJSAPI,
                #"{"type":"wechat_jsapi","wechat_jsapi":{"appId":"wx1","nonceStr":"N","package":"prepay_id=wx2","#
                    + #""paySign":"s=","signType":"RSA","timeStamp":"1736860000"}}"#
            ),
            (.none, .none, #"{"type":"none"}"#),
        ] as [(PaymentInstruction, ContractType, String)])
    func `an instruction is stored and read back as itself`(
        _ instruction: PaymentInstruction, _ type: ContractType, _ text: String
    ) throws {
        #expect(instruction.type == type)
        #expect(try json(instruction) == text)
        #expect(try decoded(text, as: PaymentInstruction.self) == instruction)
    }

    @Test(
        arguments: [
            "{}", #"{"type":"apple_pay"}"#, #"{"type":"card"}"#, #"{"type":null}"#, #"{"type":"url"}"#,
            #"{"type":"qr"}"#, #"{"type":"alipay_app"}"#, #"{"type":"alipay_app","alipay_app":{}}"#,
            #"{"type":"wechat_app","wechat_jsapi":{}}"#, #"{"type":"wechat_jsapi","wechat_jsapi":{"appId":"wx1"}}"#,
            #"{"type":"stripe"}"#, #"{"type":"stripe","stripe":{"publishable_key":"pk"}}"#,
            #"{"type":"apple_iap","product_ids":["a"],"hint":"h"}"#,
            #"{"type":"apple_iap","app_account_token":"t","hint":"h"}"#,
            #"{"type":"apple_iap","product_ids":"a","app_account_token":"t","hint":"h"}"#,
        ])
    func `a stored instruction that lacks something is refused`(_ text: String) {
        #expect(throws: DecodingError.self) { try decoded(text, as: PaymentInstruction.self) }
    }
}
