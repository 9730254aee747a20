/// Every migration of this release, in order; a released one is never edited.
package enum Migrations {
    package static let all: [Migration] = [
        Migration(number: 1, name: "cashier", sql: cashier),
        Migration(number: 2, name: "store purchases", sql: storePurchases),
        Migration(number: 3, name: "store revocations", sql: storeRevocations),
        Migration(number: 4, name: "jobs", sql: jobs),
        Migration(number: 5, name: "webhooks", sql: webhooks),
        Migration(number: 6, name: "audit seals", sql: auditSeals, particular: auditIsAppendOnly),
        Migration(number: 7, name: "learned facts", sql: learnedFacts),
        Migration(number: 8, name: "reports", sql: reports),
        Migration(number: 9, name: "subscriptions", sql: subscriptions),
        Migration(number: 10, name: "audit reasons", sql: auditReasons),
        Migration(number: 11, name: "receipts", sql: receipts),
        Migration(number: 12, name: "instrument claims", sql: instrumentClaims),
        Migration(number: 13, name: "payer addresses", sql: payerAddresses),
        Migration(number: 14, name: "answers by resource", sql: answersByResource),
        Migration(number: 15, name: "restored purchases", sql: restoredPurchases),
        Migration(number: 16, name: "refunds and replay", sql: refundsAndReplay),
        Migration(number: 17, name: "money jobs", sql: moneyJobs),
        Migration(number: 18, name: "event index", sql: eventIndex),
        Migration(number: 19, name: "refusal reasons", sql: refusalReasons),
        Migration(number: 20, name: "disputes by time", sql: disputesByTime),
        Migration(number: 21, name: "money beside payments", sql: moneyBeside),
        Migration(number: 22, name: "refused room", sql: refusedRoom),
        Migration(number: 23, name: "apple parts", sql: appleParts),
        Migration(number: 24, name: "order lists", sql: orderLists, particular: orderTriggers),
    ]
}
