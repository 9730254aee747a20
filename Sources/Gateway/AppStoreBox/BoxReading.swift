package import AppStoreBox
import Domain
import Store

// The rows that the box's page and its server API read.

extension BoxedAppStore {
    /// The most rows of each list of the state; the oldest are left out.
    private static let shown: Int64 = 1_000

    /// Reads everything that the page shows.
    package func state() async throws(GatewayError) -> BoxStateAnswer {
        let (settings, random, now) = (settings, random, time.milliseconds())
        return try await store.report { db in
            guard let row = try db.box.findMeta() else { throw StoreError.corrupt("the box has no row") }
            return BoxStateAnswer(
                meta: try BoxMeta(row: row, random: random), products: try settings.products(db),
                transactions: try db.box.listNewestTransactions(limit: Self.shown).map {
                    try BoxJSON.read(BoxTransaction.self, $0.data)
                },
                subscriptions: try db.box.listNewestSubscriptions(limit: Self.shown).map {
                    try BoxJSON.read(BoxSubscription.self, $0.data)
                },
                notifications: try db.box.listNewestNotifications(limit: Self.shown).map {
                    (try BoxJSON.read(BoxNotification.self, $0.data), signedPayload: $0.signedPayload)
                }, now: now)
        }
    }

    /// All transactions of a customer, oldest first.
    func transactions(of customer: String) async throws(GatewayError) -> [BoxTransaction] {
        try await store.report { db in
            try db.box.listTransactions(of: customer).map { try BoxJSON.read(BoxTransaction.self, $0.data) }
        }
    }
}

extension BoxedAppStore: ServerAPIReader {
    package func callsPerSecond() async throws -> Int64? {
        let random = random
        return try await store.read { db in
            try db.box.findMeta().flatMap { try BoxMeta(row: $0, random: random).callsPerSecond }
        }
    }

    package func transaction(_ id: String) async throws -> BoxTransaction? {
        try await store.read { db in
            try db.box.findTransaction(id).map { try BoxJSON.read(BoxTransaction.self, $0.data) }
        }
    }

    package func transactions(
        of customer: String, after place: HistoryPlace?, limit: Int
    ) async throws -> [BoxTransaction] {
        let all = try await transactions(of: customer).sorted {
            ($0.signedAt, $0.transactionID) < ($1.signedAt, $1.transactionID)
        }
        let behind = all.drop { row in
            place.map { (row.signedAt, row.transactionID) <= ($0.signedAt, $0.transactionID) } ?? false
        }
        return Array(behind.prefix(limit))
    }

    package func subscriptions(of customer: String) async throws -> [BoxSubscription] {
        try await store.read { db in
            try db.box.listSubscriptions(of: customer).map { try BoxJSON.read(BoxSubscription.self, $0.data) }
        }
    }

    package func notification(_ uuid: String) async throws -> SentNotification? {
        try await store.read { db in try db.box.findNotification(uuid).map(SentNotification.init(stored:)) }
    }

    package func notifications(
        signed dates: ClosedRange<Int64>, after number: Int64, limit: Int
    ) async throws -> [SentNotification] {
        var (found, number): ([SentNotification], Int64) = ([], number)
        while true {
            let page = try await store.report { [number] db in
                try db.box.listNotifications(after: number, limit: 100).map(SentNotification.init(stored:))
            }
            // The dates ascend with the numbers.
            found += page.filter { dates.contains($0.row.signedAt) }
            guard page.count == 100, found.count < limit, let last = page.last?.row,
                last.signedAt <= dates.upperBound
            else { return Array(found.prefix(limit)) }
            number = last.number
        }
    }
}

extension BoxedAppStore: ServerAPIActs {
    package func extend(_ original: String, days: Int64) async throws -> BoxSubscription {
        let done = try await act { (_) throws(BoxError) in
            BoxSubscriptionAct.extend(days: days).need(original)
        } change: { (machine) throws(BoxError) in
            try machine.act(on: original, .extend(days: days))
        }
        guard let extended = try done.get().result.subscription else {
            throw BoxError.notFound("no subscription \(original)")
        }
        return extended
    }

    package func requestTest() async throws -> BoxNotification {
        try await act { (_) throws(BoxError) in
            .due(at: 0)
        } change: { (machine) throws(BoxError) in
            machine.test()
        }.get().result
    }
}

extension SentNotification {
    fileprivate init(stored row: BoxNotificationRow) throws {
        self.init(row: try BoxJSON.read(BoxNotification.self, row.data), signedPayload: row.signedPayload)
    }
}
