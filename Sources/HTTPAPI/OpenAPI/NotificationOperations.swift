import Domain
import HTTPTypes

extension OperationGroup {
    /// `api.md` section 9.
    static let notifications = OperationGroup(
        name: "Providers' notifications", note: "What providers call, in their own forms and without the envelope.",
        operations: [
            Operation(
                "receiveNotification", .post, "/v1/notify/{token}", "Takes a provider's notification",
                note: "Acknowledged once it is stored; a repetition is acknowledged again and changes nothing.",
                parameters: account, body: .other("As the provider sends it, at most 2 MiB."), answers: acknowledgement,
                or: emptyAcknowledgement, refuses: [.notFound, .invalidNotification, .rateLimited]),
            Operation(
                "receiveNotificationInQuery", .get, "/v1/notify/{token}", "Takes a notification that is in the query",
                note: "Only for the kinds of providers that send them so; for the others it is `not_found`.",
                parameters: account, answers: acknowledgement, or: emptyAcknowledgement,
                refuses: [.notFound, .invalidNotification, .rateLimited]),
        ])

    /// The same addresses with the account's kind before the token.
    ///
    /// - Parameter kinds: those whose accounts have a notify address.
    static func notifications(of kinds: [String]) -> OperationGroup {
        OperationGroup(
            name: "Providers' notifications, by kind",
            note: "The same as without the kind; a kind that is not the account's is `not_found`.",
            operations: kinds.flatMap { kind in
                [
                    Operation(
                        "receiveNotification_\(kind)", .post, "/v1/notify/\(kind)/{token}",
                        "Takes a notification of a provider of this kind", parameters: account,
                        body: .other("As the provider sends it, at most 2 MiB."), answers: acknowledgement,
                        or: emptyAcknowledgement, refuses: [.notFound, .invalidNotification, .rateLimited]),
                    Operation(
                        "receiveNotificationInQuery_\(kind)", .get, "/v1/notify/\(kind)/{token}",
                        "Takes a notification of a provider of this kind that is in the query", parameters: account,
                        answers: acknowledgement, or: emptyAcknowledgement,
                        refuses: [.notFound, .invalidNotification, .rateLimited]),
                ]
            })
    }

    private static let account = ["token": "The account's own random token."]
    private static let acknowledgement = Operation.Outcome.other(
        "text/plain", "The provider's own acknowledgement, `success` or what else it waits for.")
    private static let emptyAcknowledgement = [
        Operation.Other(status: 204, note: "The acknowledgement of a provider that waits for no body.")
    ]

    /// The pages of the providers that serve their own.
    ///
    /// - Parameter kinds: theirs.
    static func payPages(_ kinds: [String]) -> OperationGroup {
        OperationGroup(
            name: "Pay pages", note: "Pages of providers that serve their own, for the payer's browser.",
            operations: kinds.flatMap(payPage))
    }

    private static func payPage(_ kind: String) -> [Operation] {
        let backToTheApp = Operation.Other(status: 303, note: "Back to the app, at `Location`; no body.")
        return [
            Operation(
                "showPayPage_\(kind)", .get, "/\(kind)/{payment_id}", "The page on which the payer pays",
                answers: .other("text/html", "The page."), or: [backToTheApp], refuses: [.notFound]),
            Operation(
                "actOnPayPage_\(kind)", .post, "/\(kind)/{payment_id}", "What the payer does on the page",
                body: .other("The page's form, `application/x-www-form-urlencoded`, at most 8 KiB."),
                answers: .other("text/html", "The page as it is afterwards."),
                or: [
                    backToTheApp,
                    Operation.Other(
                        status: 400, note: "The form does not fit; a page says what is wrong.",
                        mediaType: "text/html"),
                ],
                refuses: [.notFound]),
        ]
    }
}
