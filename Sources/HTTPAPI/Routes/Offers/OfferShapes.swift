import Domain

extension Shape {
    /// A promotional offer of a SKU, as it is shown.
    static let promotionalOffer = object([
        "id": .string.noted("Apple's offer identifier."), "product_id": .string.noted("One of the SKU's."),
        "audience": audienceOfOffer, "once": .boolean.noted("Whether a user redeems it once."),
    ])

    /// A promotional offer of a SKU, as it is sent.
    static let offerOfSKU = named(
        "SKUOffer",
        .object(
            [
                "id": string(1...255, pattern: "[!-~]{1,255}").noted("Apple's offer identifier."),
                "product_id": string(1...255).noted("One of the SKU's, without its app."),
            ],
            optional: [
                "audience": audienceOfOffer.orNull.noted(
                    "By the subscriptions of the SKU's group: `any` where it is left out; `new`, never one; `running`, one now; "
                        + "`lapsed`, one before and none now."),
                "once": .boolean.orNull.noted("Whether a user redeems it once; false where it is left out."),
            ]))

    private static let audienceOfOffer = words(PromotionalOffer.Audience.self)
}
