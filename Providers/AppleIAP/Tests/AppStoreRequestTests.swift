import AppleIAPProvider
import AppleTrust
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import TestSupport
import Testing

struct AppStoreRequestTests {
    @Test(arguments: AppStoreCall.all)
    func `every call asks what apple documents and reads the answer`(call: AppStoreCall) async throws {
        let fixture = AppStoreFixture([.json(call.reply, status: call.status)])
        #expect(try await call.run(fixture.api()) == call.result)
        let request = try #require(fixture.requests.first)
        #expect(fixture.requests.count == 1 && fixture.pauses.isEmpty)
        #expect(request.method == call.method)
        #expect(request.url == "https://prod.example" + call.target)
        #expect(String(decoding: request.body, as: UTF8.self) == call.body)
        let headers = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
        #expect(headers["Authorization"]?.hasPrefix("Bearer ") == true)
        #expect(headers["Accept"] == "application/json" && headers["User-Agent"] == "paydesk")
        #expect(headers["Content-Type"] == (call.body.isEmpty ? nil : "application/json"))
        #expect(request.maxReplyBytes <= 4 << 20 && request.timeoutMilliseconds <= 15_000)
    }

    @Test(arguments: ["", ".", "..", "1/2", "1?x", "1#", "1%2e", "ä", "a b", String(repeating: "1", count: 129)])
    func `an id that is none is never sent`(id: String) async throws {
        let fixture = AppStoreFixture()
        let api = try fixture.api()
        let days = AppStoreExtension(days: 1, reason: .other, request: "r")
        let consumption = AppStoreConsumption(
            customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: true)
        let failures = [
            await failure { () throws(AppStoreServerError) in try await api.transaction(id) },
            await readAll(api.history(of: id)).1, await readAll(api.refunds(of: id)).1,
            await failure { () throws(AppStoreServerError) in try await api.subscriptions(of: id) },
            await failure { () throws(AppStoreServerError) in try await api.order(id) },
            await failure { () throws(AppStoreServerError) in try await api.testNotification(id, in: .sandbox) },
            await failure { () throws(AppStoreServerError) in try await api.extend(original: id, by: days) },
            await failure { () throws(AppStoreServerError) in
                try await api.massExtension(id, product: "p", in: .sandbox)
            },
            await failure { () throws(AppStoreServerError) in
                try await api.sendConsumption(consumption, transaction: id, isAutoRenewable: true)
            },
            await failure { () throws(AppStoreServerError) in
                try await api.setAppAccountToken(AppStoreFixture.issuer, original: id)
            },
        ]
        for failure in failures {
            guard case .invalidRequest? = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
        }
        #expect(fixture.requests.isEmpty)
    }

    @Test(
        arguments: [
            (0, "r"), (91, "r"), (-1, "r"), (1, ""), (1, String(repeating: "r", count: 129)),
        ] as [(Int, String)])
    func `an extension keeps apple's bounds`(days: Int, request: String) async throws {
        let fixture = AppStoreFixture()
        let api = try fixture.api()
        let asked = AppStoreExtension(days: days, reason: .undeclared, request: request)
        let ends = [
            await failure { () throws(AppStoreServerError) in try await api.extend(original: "1", by: asked) },
            await failure { () throws(AppStoreServerError) in
                try await api.extendAll(product: "p", by: asked, in: .production)
            },
        ]
        for end in ends { #expect(end?.description.hasPrefix("this cannot be asked") == true) }
        #expect(fixture.requests.isEmpty)
    }

    @Test(
        arguments: [
            (true, .delivered, nil, nil, false, nil), (true, .delivered, 100_000, .grantFull, true, nil),
            (true, .serverOutage, 0, .decline, false, nil), (true, .delivered, nil, .grantProrated, true, nil),
            (true, .delivered, 1, .grantProrated, false, nil),
            (false, .delivered, nil, nil, false, "the customer has not consented"),
            (true, .delivered, 100_001, nil, false, "the consumption is no percentage"),
            (true, .delivered, -1, nil, false, "the consumption is no percentage"),
            (true, .other, 1, nil, false, "what was not delivered was not consumed"),
            (true, .delivered, 1, .grantProrated, true, "a prorated refund of a subscription takes no consumption"),
        ]
            as [(
                Bool, AppStoreConsumption.Delivery, Int64?, AppStoreConsumption.Preference?, Bool, String?
            )])
    func `consumption information keeps apple's rules`(
        consented: Bool, delivery: AppStoreConsumption.Delivery, percentage: Int64?,
        preference: AppStoreConsumption.Preference?, isAutoRenewable: Bool, fault: String?
    ) async throws {
        let fixture = AppStoreFixture([.json("", status: 202)])
        let api = try fixture.api()
        let consumption = AppStoreConsumption(
            customerConsented: consented, deliveryStatus: delivery, sampleContentProvided: true,
            consumptionPercentage: percentage, refundPreference: preference)
        let end = await failure { () throws(AppStoreServerError) in
            try await api.sendConsumption(consumption, transaction: "1", isAutoRenewable: isAutoRenewable)
        }
        #expect(end == fault.map(AppStoreServerError.invalidRequest))
        #expect(fixture.requests.count == (fault == nil ? 1 : 0))
    }

    @Test func `an order that the app does not have is no error`() async throws {
        let fixture = AppStoreFixture([.json(#"{"status":1}"#), .json(#"{"status":1,"signedTransactions":[]}"#)])
        let api = try fixture.api()
        #expect(try await api.order("A").isEmpty)
        #expect(try await api.order("A").isEmpty)
    }

    @Test func `a token for the app's user has to be a uuid and a time must not be empty`() async throws {
        let fixture = AppStoreFixture()
        let api = try fixture.api()
        #expect(
            await failure { () throws(AppStoreServerError) in
                try await api.setAppAccountToken("alice", original: "1")
            } == .invalidRequest("the app account token is no UUID"))
        #expect(
            await readAll(api.notifications(from: 5, until: 5, in: .production)).1
                == .invalidRequest("the time is empty"))
        #expect(AppStoreServerAPI.notificationDays(.production) == 180)
        #expect(AppStoreServerAPI.notificationDays(.sandbox) == 30)
    }

    @Test func `signed texts are of use only to those who verify them`() async throws {
        let sale = AppleSale(at: Timestamp(1_790_000_000))
        let jws = sale.jws
        let fixture = AppStoreFixture([.json(#"{"signedTransactionInfo":"\#(jws)"}"#)])
        let signed = try await fixture.api().transaction(sale.id).value
        let provider = try AppleIAPProvider(
            account: ProviderAccount(
                id: AccountID("apple-iap")!, settings: AppStoreGatewayFixtureSetup().settings, isDevelopment: true),
            context: ProviderContext(
                http: fixture.transport, time: fixture.time, random: RandomSource { Array(repeating: 1, count: $0) },
                book: NoBook(), notifyURL: "", publicURL: ""))
        #expect(try provider.verify(signed.evidence).transactionID == sale.id)
        let strangers = try AppleVerifier(
            AppleVerifierConfiguration(
                apps: [AppleApp(bundleID: "com.example.app", appAppleID: nil)], environments: [.production]))
        #expect(throws: AppleRefusal.self) { try signed.transaction(by: strangers, of: "com.example.app") }
        #expect(throws: AppleRefusal.self) { try signed.renewalInfo(by: strangers) }
        #expect(throws: AppleRefusal.self) { try signed.payload(by: strangers) }
        var dumped = ""
        dump(signed, to: &dumped)
        for shown in ["\(signed)", String(reflecting: signed), dumped] { #expect(!shown.contains(jws.prefix(20))) }
        #expect(signed == SignedText(jws) && signed != SignedText("a.b.c"))
        for text in [
            "", "a.b", "a.b.c.d", "a.b.c\"", "a b.c.d", "ä.b.c", "a.b." + String(repeating: "c", count: 65_536),
        ] {
            #expect(SignedText(text) == nil, "\(text.prefix(20))")
        }
    }
}

/// An account book that stores nothing.
struct NoBook: AccountBook {
    func value(_ key: String) async throws(ProviderError) -> Data? { nil }

    func update(_ key: String, _ change: @escaping @Sendable (Data?) -> Data?) async throws(ProviderError) -> Data? {
        nil
    }
}
