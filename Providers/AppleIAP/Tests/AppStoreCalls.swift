import AppleIAPProvider
import AppleTrust
import Foundation

extension AppStoreCall {
    private static let history: AppStoreHistoryFilter = {
        var filter = AppStoreHistoryFilter()
        filter.productIDs = ["com.example.a", "com.example.b"]
        filter.productTypes = [.autoRenewable, .consumable]
        filter.subscriptionGroups = ["21 0"]
        (filter.from, filter.until, filter.ownership) = (1_000, 2_000, .familyShared)
        (filter.revoked, filter.newestFirst) = (false, true)
        return filter
    }()

    private static let signedPage =
        #"{"revision":"r/1=","hasMore":false,"signedTransactions":["a.b.c","d.e.f"],"x":[{}]}"#

    private static func bodies(_ signed: [SignedText]) -> String {
        signed.map { text in String(decoding: text.notificationBody, as: UTF8.self).split(separator: "\"")[3] }
            .joined(separator: ",")
    }

    private static func pages(_ pages: AppStorePages<SignedText>) async throws(AppStoreServerError) -> String {
        var text = ""
        for try await page in pages {
            text += "\(page.environment.rawValue) \(bodies(page.items)) \(page.cursor ?? "-") \(page.hasMore)"
        }
        return text
    }

    static let reading: [AppStoreCall] = [
        AppStoreCall(
            name: "transaction", method: "GET", target: "/inApps/v1/transactions/200",
            reply: #"{"signedTransactionInfo":"a.b.c","new":1}"#, result: "Production a.b.c"
        ) { api throws(AppStoreServerError) in
            let answer = try await api.transaction("200")
            return "\(answer.environment.rawValue) \(bodies([answer.value]))"
        },
        AppStoreCall(
            name: "history", method: "GET", target: "/inApps/v2/history/200", reply: signedPage,
            result: "Production a.b.c,d.e.f r/1= false"
        ) { api throws(AppStoreServerError) in try await pages(api.history(of: "200")) },
        AppStoreCall(
            name: "filtered history", method: "GET",
            target: "/inApps/v2/history/200?productId=com.example.a&productId=com.example.b"
                + "&productType=AUTO_RENEWABLE&productType=CONSUMABLE&subscriptionGroupIdentifier=21%200"
                + "&startDate=1000&endDate=2000&inAppOwnershipType=FAMILY_SHARED&revoked=false&sort=DESCENDING"
                + "&revision=r%2F0%3D%26",
            reply: signedPage, result: "Production a.b.c,d.e.f r/1= false"
        ) { api throws(AppStoreServerError) in
            try await pages(api.history(of: "200", filter: history, after: "r/0=&"))
        },
        AppStoreCall(
            name: "refunds", method: "GET", target: "/inApps/v2/refund/lookup/200", reply: signedPage,
            result: "Production a.b.c,d.e.f r/1= false"
        ) { api throws(AppStoreServerError) in try await pages(api.refunds(of: "200")) },
        AppStoreCall(
            name: "subscriptions", method: "GET", target: "/inApps/v1/subscriptions/200?status=1&status=4",
            reply: #"{"environment":"Production","data":[{"subscriptionGroupIdentifier":"g","lastTransactions":["#
                + #"{"status":1,"originalTransactionId":"100","signedTransactionInfo":"a.b.c","signedRenewalInfo":"d.e.f"},"#
                + #"{"status":9,"originalTransactionId":"101","signedTransactionInfo":"g.h.i"}]}]}"#,
            result: "Production g 100 1 a.b.c d.e.f; g 101 9 g.h.i "
        ) { api throws(AppStoreServerError) in
            let answer = try await api.subscriptions(of: "200", statuses: [.active, .gracePeriod])
            let rows = answer.value.map {
                "\($0.group) \($0.originalTransactionID) \($0.status.rawValue) \(bodies([$0.transaction])) "
                    + bodies($0.renewalInfo.map { [$0] } ?? [])
            }
            return "\(answer.environment.rawValue) \(rows.joined(separator: "; "))"
        },
        AppStoreCall(
            name: "order", method: "GET", target: "/inApps/v1/lookup/MK5TTTVWJH",
            reply: #"{"status":0,"signedTransactions":["a.b.c"]}"#, result: "a.b.c", isSearching: false
        ) { api throws(AppStoreServerError) in bodies(try await api.order("MK5TTTVWJH")) },
        AppStoreCall(
            name: "notifications", method: "POST", target: "/inApps/v1/notifications/history?paginationToken=t%2B1",
            body: #"{"endDate":2000,"notificationSubtype":"GRACE_PERIOD","notificationType":"DID_FAIL_TO_RENEW","#
                + #""onlyFailures":true,"startDate":1000}"#,
            reply: #"{"hasMore":false,"notificationHistory":[{"signedPayload":"a.b.c","sendAttempts":["#
                + #"{"attemptDate":5,"sendAttemptResult":"A_WORD_OF_2031"},{"attemptDate":6,"sendAttemptResult":"SUCCESS"}"#
                + #"]},{"signedPayload":"d.e.f"}]}"#,
            result: #"{"signedPayload":"a.b.c"} 5 A_WORD_OF_2031 false 6 SUCCESS true; {"signedPayload":"d.e.f"} "#,
            isSearching: false
        ) { api throws(AppStoreServerError) in
            var rows: [String] = []
            let pages = api.notifications(
                from: 1_000, until: 2_000, filter: .type("DID_FAIL_TO_RENEW", subtype: "GRACE_PERIOD"),
                onlyFailures: true, after: "t+1", in: .production)
            for try await page in pages {
                rows += page.items.map { item in
                    let tries = item.attempts.map {
                        "\($0.attemptDate ?? 0) \($0.sendAttemptResult ?? "-") \($0.isSuccess)"
                    }
                    return String(decoding: item.signed.notificationBody, as: UTF8.self) + " "
                        + tries.joined(separator: " ")
                }
            }
            return rows.joined(separator: "; ")
        },
        AppStoreCall(
            name: "notifications of a transaction", method: "POST", target: "/inApps/v1/notifications/history",
            body: #"{"endDate":2000,"startDate":1000,"transactionId":"200"}"#,
            reply: #"{"hasMore":false,"notificationHistory":[]}"#, result: "0", isSearching: false
        ) { api throws(AppStoreServerError) in
            var count = 0
            let pages = api.notifications(from: 1_000, until: 2_000, filter: .transaction("200"), in: .production)
            for try await page in pages { count += page.items.count }
            return "\(count)"
        },
        AppStoreCall(
            name: "status of a test notification", method: "GET", target: "/inApps/v1/notifications/test/ab-1_2",
            reply: #"{"signedPayload":"a.b.c","sendAttempts":[{"attemptDate":5,"sendAttemptResult":"TIMED_OUT"}]}"#,
            result: "a.b.c TIMED_OUT", isSearching: false
        ) { api throws(AppStoreServerError) in
            let sent = try await api.testNotification("ab-1_2", in: .production)
            return "\(bodies([sent.signed])) \(sent.attempts.first?.sendAttemptResult ?? "-")"
        },
        AppStoreCall(
            name: "status of a mass extension", method: "GET",
            target: "/inApps/v1/subscriptions/extend/mass/com.example.vip/req-1",
            reply:
                #"{"requestIdentifier":"req-1","complete":true,"completeDate":7,"succeededCount":30,"failedCount":2}"#,
            result: "true 7 30 2", isSearching: false
        ) { api throws(AppStoreServerError) in
            let state = try await api.massExtension("req-1", product: "com.example.vip", in: .production)
            return "\(state.complete) \(state.completeDate ?? 0) \(state.succeededCount ?? 0) \(state.failedCount ?? 0)"
        },
    ]

    static let changing: [AppStoreCall] = [
        AppStoreCall(
            name: "test notification", method: "POST", target: "/inApps/v1/notifications/test",
            reply: #"{"testNotificationToken":"ab-1_2"}"#, result: "ab-1_2", isSearching: false
        ) { api throws(AppStoreServerError) in try await api.requestTestNotification(in: .production) },
        AppStoreCall(
            name: "consumption", method: "PUT", target: "/inApps/v2/transactions/consumption/200",
            body: #"{"consumptionPercentage":25000,"customerConsented":true,"deliveryStatus":"DELIVERED","#
                + #""refundPreference":"GRANT_PRORATED","sampleContentProvided":false}"#,
            reply: "", status: 202, result: "sent"
        ) { api throws(AppStoreServerError) in
            try await api.sendConsumption(
                AppStoreConsumption(
                    customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false,
                    consumptionPercentage: 25_000, refundPreference: .grantProrated),
                transaction: "200", isAutoRenewable: false)
            return "sent"
        },
        AppStoreCall(
            name: "app account token", method: "PUT", target: "/inApps/v1/transactions/100/appAccountToken",
            body: #"{"appAccountToken":"6d7a1a51-0f0a-4f6e-9c1b-4a0a9c3f1e2d"}"#, reply: "", result: "set"
        ) { api throws(AppStoreServerError) in
            try await api.setAppAccountToken("6D7A1A51-0F0A-4F6E-9C1B-4A0A9C3F1E2D", original: "100")
            return "set"
        },
        AppStoreCall(
            name: "extension", method: "PUT", target: "/inApps/v1/subscriptions/extend/100",
            body: #"{"extendByDays":45,"extendReasonCode":1,"requestIdentifier":"ext_1"}"#,
            reply: #"{"originalTransactionId":"100","webOrderLineItemId":"9","success":true,"effectiveDate":1234}"#,
            result: "Production 100 true 1234", isRepeatable: false
        ) { api throws(AppStoreServerError) in
            let days = AppStoreExtension(days: 45, reason: .customerSatisfaction, request: "ext_1")
            let answer = try await api.extend(original: "100", by: days)
            return "\(answer.environment.rawValue) \(answer.value.originalTransactionId) \(answer.value.success) "
                + "\(answer.value.effectiveDate ?? 0)"
        },
        AppStoreCall(
            name: "mass extension", method: "POST", target: "/inApps/v1/subscriptions/extend/mass",
            body: #"{"extendByDays":3,"extendReasonCode":3,"productId":"com.example.vip","requestIdentifier":"req-1","#
                + #""storefrontCountryCodes":["CHN"]}"#,
            reply: #"{"requestIdentifier":"req-1"}"#, result: "accepted", isSearching: false, isRepeatable: false
        ) { api throws(AppStoreServerError) in
            let days = AppStoreExtension(days: 3, reason: .outage, request: "req-1")
            try await api.extendAll(product: "com.example.vip", by: days, storefronts: ["CHN"], in: .production)
            return "accepted"
        },
    ]

    static let all = reading + changing
}
