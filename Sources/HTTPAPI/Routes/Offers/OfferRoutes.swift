import Domain
import Gateway
import HTTPTypes

/// Routes of signed offers of the App Store (`docs/app-store.md`).
struct OfferRoutes {
    let gateway: Gateway

    private static let lengths = 1...255

    var routes: [Route] {
        [
            Route(
                "signOffer", .post, "/v1/public/iap/apple/offers", .user, .apple,
                "Signs a promotional offer for the user",
                note: "An offer that is redeemed once has one answer for a day.", body: .json(.offerToSign),
                answers: .data(.signedOffer),
                refuses: [.unknownProduct, .notFound, .conflict, .noProviderAvailable], handle: sign),
            Route(
                "signIntroductoryOffer", .post, "/v1/public/iap/apple/offers/introductory", .user, .apple,
                "Signs whether the user may have an introductory offer",
                note: "Those who never had a subscription of the product's group may.",
                body: .json(.introductoryToSign), answers: .data(.signedIntroductory),
                refuses: [.unknownProduct, .notFound, .noProviderAvailable], handle: signIntroductory),
        ]
    }

    private func sign(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(OfferFields.self)
        let request = OfferRequest(
            productID: try Self.checked("product_id", fields.product_id),
            offerID: try Self.checked("offer_id", fields.offer_id),
            transactionID: try fields.transaction_id.map { (id) throws(GatewayError) in
                try Self.checked("transaction_id", id)
            }, bundleID: fields.bundle_id, format: fields.format ?? .v2)
        return try .json(
            try await gateway.signedOffers.sign(request, user: call.user, context: call.context))
    }

    private func signIntroductory(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(IntroductoryFields.self)
        let request = IntroductoryRequest(
            productID: try Self.checked("product_id", fields.product_id),
            transactionID: try Self.checked("transaction_id", fields.transaction_id), bundleID: fields.bundle_id)
        return try .json(
            try await gateway.signedOffers.signIntroductory(request, user: call.user, context: call.context))
    }

    /// Returns a text that a database can compare.
    private static func checked(_ field: String, _ text: String) throws(GatewayError) -> String {
        guard text.hasScalars(lengths), text.isPlain else {
            throw .invalidRequest(
                field: field, reason: "must have 1 to 255 characters, none of them a control character")
        }
        return text
    }
}

private struct OfferFields: Decodable {
    let product_id: String
    let offer_id: String
    let transaction_id: String?
    let bundle_id: String?
    let format: OfferFormat?
}

private struct IntroductoryFields: Decodable {
    let product_id: String
    let transaction_id: String
    let bundle_id: String?
}

extension Shape {
    private static let productOfOffer = plain(1...255).noted("Apple's product id.").shown(#""com.example.news.month""#)
    private static let appOfOffer = string.orNull.noted("One of the configured apps; needed where there are several.")
    private static let transactionOfOffer = plain(1...255).noted(
        "A transaction of the user's, or the `appTransactionId` of one.")

    fileprivate static let offerToSign = object(
        ["product_id": productOfOffer, "offer_id": plain(1...255).noted("One that the product's SKU lists.")],
        optional: [
            "transaction_id": transactionOfOffer.orNull, "bundle_id": appOfOffer,
            "format": .words(OfferFormat.self).orNull.noted("`v2` where it is left out."),
        ])

    fileprivate static let introductoryToSign = object(
        ["product_id": productOfOffer, "transaction_id": transactionOfOffer], optional: ["bundle_id": appOfOffer])

    fileprivate static let signedOffer = oneOf(
        [
            named(
                "SignedOfferToken",
                object(["format": .words("v2"), "jws": .string.noted("For StoreKit's `promotionalOffer`.")])),
            named(
                "SignedOfferParts",
                object([
                    "format": .words("v1"), "key_id": .string, "nonce": .string.noted("A UUID in lower case."),
                    "timestamp": .integer.noted("Milliseconds since 1970-01-01 UTC; it holds for 24 hours."),
                    "signature": .string.noted("In base64."),
                    "application_username": .string.noted("The user's `app_account_token`."),
                ])),
        ], by: "format")

    fileprivate static let signedIntroductory = named(
        "SignedIntroductoryOffer",
        object([
            "jws": .string.noted("For StoreKit's `introductoryOfferEligibility`."),
            "allow": .boolean.noted("As the JWS says."),
        ]))
}
