import Domain
import Gateway
import HTTPTypes
import ProviderKit

extension OperationGroup {
    /// The inbox, jobs, keys and the audit of `api.md` section 11.
    static let inbox = OperationGroup(
        name: "Notifications, jobs, keys, audit", note: "What came in, what is to be done, who may call, who did what.",
        operations: [
            Operation(
                "listNotifications", .get, "/v1/admin/notifications", "The notifications that providers sent",
                query: Operation.Query.keptNotifications, answers: .page(.keptNotification)),
            Operation(
                "replayNotification", .post, "/v1/admin/notifications/{id}/replay",
                "Verifies a notification again and processes it again",
                note: "What it states a second time changes nothing.", body: .json(.object([:])),
                answers: .data(.keptNotification), refuses: [.invalidNotification]),
            Operation(
                "listJobs", .get, "/v1/admin/jobs", "The jobs that have not ended", query: Operation.Query.openJobs,
                answers: .page(.openJob)),
            Operation(
                "retryJob", .post, "/v1/admin/jobs/{id}/retry", "Makes a job due now, out of the quarantine too",
                body: .json(.object([:])), answers: .data(.openJob)),
            Operation(
                "createAPIKey", .post, "/v1/admin/api-keys", "Makes an API key",
                note: "The key is shown only here; a replay answers `conflict` with its id in `details.resource`.",
                body: .json(.newKey), answers: .data(.issuedKey)),
            Operation(
                "listAPIKeys", .get, "/v1/admin/api-keys", "The API keys, without their secrets",
                query: Operation.Query.page(of: "key"), answers: .page(.keptKey)),
            Operation(
                "revokeAPIKey", .delete, "/v1/admin/api-keys/{id}", "Revokes an API key",
                answers: .data(.object(["id": .id("key"), "status": .words("revoked")])), refuses: [.notFound]),
            Operation(
                "listAudit", .get, "/v1/admin/audit", "Who did what", query: Operation.Query.auditedActs,
                answers: .page(.auditedAct)),
        ])
}

extension Operation.Query {
    fileprivate static let keptNotifications: [Operation.Query] =
        [
            query(
                "status", .words(Domain.Notification.Status.self),
                "How it stands; `rejected` did not verify, `quarantined` could not be processed.")
        ] + page(of: "ntf")

    fileprivate static let openJobs: [Operation.Query] =
        [query("status", .words(Job.State.self), "A job that is running counts as `waiting`.")] + page(of: "job")

    fileprivate static let auditedActs: [Operation.Query] =
        [
            query("subject", .string, "What it was done to: an id, or `sku/…`, `account/…`."),
            query("user_id", .userID, "The app's own id of a user; then `subject` does not count."),
        ] + page(.timeCursor("[0-9]{1,18}"))
}

extension Shape {
    fileprivate static let keptNotification = named(
        "Notification",
        .object(
            [
                "id": .id("ntf"), "account": .string, "type": .string.noted("The provider's own word."),
                "provider_event_id": .string, "status": .words(Domain.Notification.Status.self),
                "reason": .words(UnprovenReason.words).orNull.noted("Why it was refused; null where it was not."),
                "received_at": .time, "processed_at": .time.orNull,
            ]))

    fileprivate static let openJob = named(
        "Job",
        .object([
            "id": .id("job"), "kind": .string.noted("`process_notification`, `reconcile_payment` and others."),
            "subject": .string.noted("What it is about, often an id."),
            "status": .words("waiting", "running", "quarantined"), "run_at": .time,
            "attempts": .integer.noted("Runs since the last one that ended well."),
            "error": .string.noted("Why the last run failed; else empty."), "created_at": .time,
        ]))

    fileprivate static let newKey = named(
        "NewAPIKey",
        .object(
            [
                "name": .plain(1...200).noted("In Unicode scalars; no control characters."),
                "scopes": .list(.words(Scope.self), 1...Int.max).noted("`admin` implies every other."),
            ],
            optional: [
                "partner": .plain(1...200).orNull.noted("The name where it is left out."),
                "expires_at": .timeAhead.orNull.noted("Ahead: from then on it is no key."),
            ]))

    fileprivate static let issuedKey = named(
        "IssuedAPIKey",
        .object(
            [
                "id": .id("key"), "name": .string, "partner": .string, "scopes": .list(.words(Scope.self)),
                "key": .string.noted("`pdk_…`, to be sent as the bearer token."),
            ], optional: ["expires_at": .time]))

    fileprivate static let keptKey = named(
        "APIKey",
        .object(
            [
                "id": .id("key"), "name": .string, "partner": .string, "scopes": .list(.words(Scope.self)),
                "created_at": .time,
            ],
            optional: [
                "expires_at": .time, "last_used_at": .time.noted("Within a minute."), "revoked_at": .time,
            ]))

    fileprivate static let auditedAct = named(
        "AuditEntry",
        .object(
            [
                "subject": .string, "position": .integer.noted("Counts the acts about one subject."), "at": .time,
                "actor": .string.noted("`user`, `partner:acme/key_…`, `provider:…` or `system:…`."),
                "request_id": .string, "action": .string.noted("`order.closed`."), "before": .string,
                "after": .string,
            ], optional: ["reason": .string.noted("In words of whoever did it.")]))
}
