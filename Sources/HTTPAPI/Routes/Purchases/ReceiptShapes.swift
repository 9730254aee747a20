import Domain

/// The request and answer of `verifyReceipt` (Apple, verifyReceipt, requestBody and responseBody).
extension Shape {
    /// The source of the state of purchases.
    static let receiptSource = words("receipt", "app_store")

    static let receiptQuestion = object(
        ["receipt-data": .string.noted("Base64.")],
        optional: [
            "password": .string.orNull.noted("The app's shared secret."),
            "exclude-old-transactions": .boolean.orNull.noted(
                "Of each subscription its latest period alone. `\"true\"` and `\"false\"` are read as well."),
        ])

    /// The report with Apple's snake_case keys and the camelCase ones of StoreKit 1 clients.
    static let receiptReport = named(
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

    static let receiptRefusal = named(
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

    /// Adds a date in Apple's three forms; the third is absent where the server lacks that time zone.
    private func dated(_ name: String) -> Shape {
        adding(
            [name: Self.date, "\(name)_ms": Self.milliseconds], optional: ["\(name)_pst": Self.pacificDate])
    }

    private func maybeDated(_ name: String) -> Shape {
        adding(
            [:], optional: [name: Self.date, "\(name)_ms": Self.milliseconds, "\(name)_pst": Self.pacificDate])
    }

    /// The members with camelCase names; `expiresDate` is always present.
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
