import Domain
import HTTPTypes

extension OperationGroup {
    /// `api.md` section 7.
    static let compatible = OperationGroup(
        name: "Compatible endpoints",
        note: "The shapes of other clients: no envelope, and a body is read as JSON whatever its content type.",
        operations: [
            Operation(
                "listAppleProducts", .get, "/apple-iap/products", "What is sold in the App Store",
                note: "One item for each literal Apple product id.",
                answers: .json(.object(["success": .boolean, "data": .list(.appleProduct)]))),
            Operation(
                "verifyReceipt", .post, "/apple-iap/verify", "Attaches one transaction of a receipt to the user",
                note: "Only the named transaction is attached.",
                body: .json(
                    .object([
                        "receiptData": .string.noted(
                            "A PKCS #7 receipt in base64, a signed transaction, or in development the simulator's."),
                        "transactionId": .string.noted("One of the receipt, or a renewal of one that is."),
                    ])),
                answers: .json(.verifiedMembership),
                refuses: [
                    .invalidReceipt, .invalidTransaction, .unknownProduct, .purchaseBelongsToAnotherUser,
                    .purchaseRevoked, .noProviderAvailable, .providerUnavailable,
                ]),
            Operation(
                "validateReceipt", .post, path, "Apple's verifyReceipt",
                note: """
                    With a user's token it attaches the purchases; without one it needs the right `password`, and only \
                    reports. Every refusal is a `status` too, with HTTP status 200, or 429 for too many questions.
                    """,
                body: .json(.receiptQuestion), answers: .json(.oneOf([.receiptReport, .receiptRefusal])),
                or: [
                    Operation.Other(
                        status: 429, note: "Too many questions or wrong secrets: `status` 21005.",
                        mediaType: "application/json", shape: .receiptRefusal)
                ]),
            refusal("refuseReceiptGet", .get), refusal("refuseReceiptPut", .put),
            refusal("refuseReceiptPatch", .patch), refusal("refuseReceiptDelete", .delete),
        ])

    private static let path = "/validate-receipt"

    private static func refusal(_ id: String, _ method: HTTPRequest.Method) -> Operation {
        Operation(
            id, method, path, "A \(method.rawValue) is refused with `status` 21000, as Apple does",
            note: "A receipt comes by POST.",
            answers: .json(.receiptRefusal))
    }
}

extension Shape {
    fileprivate static let appleProduct = named(
        "AppleProduct",
        .object([
            "id": .integer.noted("The SKU's number."), "product_id": .string, "product_name": .string,
            "price": .number.noted("In major units, 29.9."), "currency": .currency,
            "membership_plan": .object(["plan_code": .string]),
        ]))

    fileprivate static let verifiedMembership = named(
        "VerifiedMembership",
        .object(
            [
                "success": .boolean, "message": .string,
                "membership": .object([
                    "status": .words("active", "expired"), "startDate": .string.noted("`2024-10-08T10:00:00.000Z`."),
                    "endDate": .string.orNull.noted("Null when perpetual."),
                ]),
            ],
            optional: [
                "source": receiptSource.noted("Who says so, where the evidence is a receipt."),
                "stale": .boolean.noted("With `source`: Apple could not say where the purchase stands by now."),
            ]))

    private static let receiptSource = words("receipt", "app_store")
}

// MARK: verifyReceipt

/// Source: Apple, verifyReceipt, requestBody and responseBody.
extension Shape {
    fileprivate static let receiptQuestion = object(
        ["receipt-data": .string.noted("Base64.")],
        optional: [
            "password": .string.orNull.noted("The app's shared secret."),
            "exclude-old-transactions": .boolean.orNull.noted(
                "Of each subscription its latest period alone. `\"true\"` and `\"false\"` are read as well."),
        ])

    /// Apple's snake_case keys, beside them the camelCase ones of another client.
    fileprivate static let receiptReport = named(
        "ReceiptReport",
        .object(
            [
                "status": .integer(0...0), "environment": .words(Environment.self), "receipt": receipt,
                "latest_receipt": .string.noted("The receipt as it was sent."),
                "latest_receipt_info": .list(named("ReceiptTransaction", receiptTransaction)).noted("Newest first."),
                "pending_renewal_info": .list(named("ReceiptRenewal", receiptRenewal)),
                "latestReceiptInfo": otherTransactions, "pendingRenewalInfo": otherRenewals,
                "source": receiptSource.noted("Who says where the purchases stand."),
                "stale": .boolean.noted("Apple could not say where they stand by now."),
            ],
            optional: [
                "attached": .integer.noted("With a user's token: how many of the purchases are the user's now."),
                "not_attached": .list(
                    .object(["transaction_id": .string, "reason": .string.noted("The id of an error.")])
                ).noted("With a user's token: those that are not, and why."),
            ]))

    fileprivate static let receiptRefusal = named(
        "ReceiptRefusal",
        .object(
            [
                "status": .integer(21_000...21_199).noted("Apple's."),
                "latestReceiptInfo": otherTransactions.noted("Empty."),
                "pendingRenewalInfo": otherRenewals.noted("Empty."),
            ],
            optional: ["is-retryable": .boolean.noted("The same again may be answered otherwise later.")]))

    private static let otherTransactions = list(
        named("ReceiptTransactionInCamelCase", receiptTransaction.camelCased)
    ).noted("`expiresDate` is empty where nothing expires.")
    private static let otherRenewals = list(named("ReceiptRenewalInCamelCase", receiptRenewal.camelCased))

    private static let receipt = object([
        "receipt_type": .string, "bundle_id": .string, "adam_id": .integer, "app_item_id": .integer,
        "application_version": .string, "original_application_version": .string, "download_id": .integer,
        "version_external_identifier": .integer,
        "in_app": .list(named("ReceiptTransaction", receiptTransaction)),
    ])
    .dated("receipt_creation_date").dated("request_date")
    .maybeDated("original_purchase_date").maybeDated("expiration_date")

    private static let receiptTransaction = object(
        [
            "quantity": .string, "product_id": .string, "transaction_id": .string, "original_transaction_id": .string,
            "is_trial_period": truth, "is_in_intro_offer_period": truth,
            "in_app_ownership_type": .words("PURCHASED", "FAMILY_SHARED"),
        ],
        optional: [
            "cancellation_reason": .string, "is_upgraded": .words("true"), "web_order_line_item_id": .string,
            "app_account_token": .string, "promotional_offer_id": .string, "offer_code_ref_name": .string,
        ]
    )
    .dated("purchase_date").dated("original_purchase_date").maybeDated("expires_date").maybeDated("cancellation_date")

    private static let receiptRenewal = object(
        [
            "product_id": .string, "auto_renew_product_id": .string, "original_transaction_id": .string,
            "auto_renew_status": .words("0", "1"),
        ],
        optional: [
            "is_in_billing_retry_period": .words("1"), "expiration_intent": .string, "price_consent_status": .string,
        ]
    )
    .maybeDated("grace_period_expires_date")

    private static let truth = words("true", "false")
    private static let date = string.noted("`2023-12-31 23:59:59 Etc/GMT`.")
    private static let milliseconds = string.noted("Milliseconds since 1970-01-01 UTC.")
    private static let pacificDate = string.noted("`2023-12-31 15:59:59 America/Los_Angeles`.")

    /// With a date in Apple's three forms; the third is missing where the server does not know that time zone.
    private func dated(_ name: String) -> Shape {
        adding(
            [name: Self.date, "\(name)_ms": Self.milliseconds], optional: ["\(name)_pst": Self.pacificDate])
    }

    private func maybeDated(_ name: String) -> Shape {
        adding(
            [:], optional: [name: Self.date, "\(name)_ms": Self.milliseconds, "\(name)_pst": Self.pacificDate])
    }

    /// The same members under the other client's names; `expiresDate` is always there.
    private var camelCased: Shape {
        guard case .object(let members) = form else { return self }
        let others = members.map { member in
            Member(
                name: member.name.camelCased, shape: member.shape,
                isRequired: member.isRequired || member.name == "expires_date")
        }
        return Shape(.object(others))
    }
}
