import Domain
import Gateway
import HTTPTypes

/// The route of OpenIAP's clients: attach in their form, without the envelope (`docs/api.md` section 15).
struct OpenIAPRoutes {
    let gateway: Gateway

    private static let store = "apple"

    var routes: [Route] {
        [
            Route(
                "verifyPurchase", .post, "/v1/purchase/verify", .user, .compatible,
                "Attaches a purchase to the user, in OpenIAP's form",
                note: """
                    Further fields and the header `X-OpenIAP-Spec` are ignored. After `unknown_product` the purchase is \
                    kept, and the app must not finish the transaction.
                    """,
                body: .json(
                    .object([
                        "store": .words(Self.store), "jws": .string.noted("The signed transaction of StoreKit 2."),
                    ])), answers: .json(.openIAPVerdict),
                refuses: [.unknownProduct, .purchaseBelongsToAnotherUser, .noProviderAvailable],
                idempotency: .ignored, errors: .openIAP, handle: verify)
        ]
    }

    private func verify(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(VerifyPurchaseFields.self)
        guard fields.store == Self.store else {
            throw .invalidRequest(field: "store", reason: .words([Self.store]))
        }
        let verdict = try await gateway.purchases.verdict(on: fields.jws, user: call.user, context: call.context)
        return .raw(
            status: .ok, contentType: "application/json; charset=utf-8",
            body: try Answer.encode(VerifiedStorePurchase(verdict, store: fields.store)),
            headers: [HTTPField(name: .cacheControl, value: "no-store")])
    }
}

private struct VerifyPurchaseFields: Decodable {
    let store: String
    let jws: String
}

/// The answer; what is not known is absent.
private struct VerifiedStorePurchase: Encodable {
    let store: String
    let isValid: Bool
    let state: String
    let productId: String?
    let environment: Environment?

    init(_ verdict: PurchaseVerdict, store: String) {
        self.store = store
        isValid = verdict.isValid
        state = verdict.state.rawValue
        productId = verdict.productID
        environment = verdict.environment
    }
}

extension Shape {
    fileprivate static let openIAPVerdict = named(
        "OpenIAPPurchase",
        .object(
            [
                "store": .words("apple"), "isValid": .boolean.noted("True for the first two states."),
                "state": .words(PurchaseVerdict.State.self),
            ],
            optional: [
                "productId": .string.noted("Where known."), "environment": .words(Environment.self),
            ]))
}
