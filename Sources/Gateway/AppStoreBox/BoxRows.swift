import AppStoreBox
import Domain
import FoundationEssentials
import Store

/// The rows of the box in a transaction: reads those of a need, and stores what an act changed.
struct BoxRows {
    let tx: any Transaction
    let signer: BoxSigner
    /// The most rows of one kind that are run at once.
    private static let part: Int64 = 100

    /// Locks the box and reads its row; the first reading makes its counters.
    ///
    /// - Throws: `corrupt` where the box was never opened.
    func lock(_ random: RandomSource) throws -> BoxMeta {
        guard let row = try tx.box.lock() else { throw StoreError.corrupt("the box has no row") }
        return try BoxMeta(row: row, random: random)
    }

    // MARK: Reading

    /// - Parameter patience: the milliseconds for which a due notification is left to the process that stored it.
    func scope(_ need: BoxNeed, _ meta: BoxMeta, patience: Int64 = 0) throws -> BoxScope {
        var subscriptions: [BoxSubscriptionRow] = []
        var transactions: [BoxTransactionRow] = []
        var waiting = try tx.box.listHeldNotifications()
        switch need {
        case .purchase(let customer, let group?, _):
            subscriptions = try tx.box.listSubscriptions(of: customer, group: group)
        case .purchase(let customer, nil, let product):
            transactions = try tx.box.listTransactions(of: customer, product: product)
        case .subscription(let original, let customer):
            subscriptions = try tx.box.listSubscriptions(sharing: original)
            if let customer, let group = subscriptions.first(where: { $0.original == original })?.group {
                let others = try tx.box.listSubscriptions(of: customer, group: group)
                subscriptions += others.filter { other in !subscriptions.contains { $0.original == other.original } }
            }
        case .transaction(let id):
            transactions = [try tx.box.findTransaction(id)].compactMap(\.self)
            if let original = transactions.first?.original {
                subscriptions = try tx.box.listSubscriptions(sharing: original)
            }
        case .due(let time):
            subscriptions = try tx.box.listDueSubscriptions(until: time, limit: Self.part)
            waiting += try tx.box.listDueNotifications(until: time - patience, limit: Self.part)
        }
        let found = try subscriptions.map { try BoxJSON.read(BoxSubscription.self, $0.data) }
        let known = Set(transactions.map(\.id))
        let current = found.map(\.currentTransactionID).filter { !known.contains($0) }
        transactions += try tx.box.listTransactions(current)
        return BoxScope(
            meta: meta, subscriptions: found,
            transactions: try transactions.map { try BoxJSON.read(BoxTransaction.self, $0.data) },
            waiting: try waiting.map { try BoxJSON.read(BoxNotification.self, $0.data) })
    }

    // MARK: Writing

    /// Stores the changes, and signs each new notification once.
    ///
    /// - Returns: the payloads of the notifications that are to be sent.
    func store(_ changes: BoxChanges, knowing known: Set<String>) throws -> [String: String] {
        for row in changes.transactions {
            try tx.box.upsert(
                BoxTransactionRow(
                    id: row.transactionID, original: row.originalTransactionID, customer: row.customer,
                    product: row.productID, data: try BoxJSON.text(row)))
        }
        for row in changes.subscriptions {
            try tx.box.upsert(
                BoxSubscriptionRow(
                    original: row.originalTransactionID, customer: row.customer, group: row.group,
                    sharedFrom: row.sharedFrom, dueAt: row.nextAt, data: try BoxJSON.text(row)))
        }
        var payloads: [String: String] = [:]
        for row in changes.notifications {
            // A stored payload stays as it is.
            let payload = known.contains(row.uuid) ? "" : try signer.notification(row)
            try store(row, payload)
            if !payload.isEmpty { payloads[row.uuid] = payload }
        }
        for uuid in changes.send where payloads[uuid] == nil {
            payloads[uuid] = try tx.box.findNotification(uuid)?.signedPayload
        }
        try tx.box.updateMeta(data: try BoxJSON.text(changes.meta))
        return payloads
    }

    private func store(_ row: BoxNotification, _ payload: String) throws {
        try tx.box.upsert(
            BoxNotificationRow(
                uuid: row.uuid, number: row.number, dueAt: row.dueAt, waitsForOthers: row.isShuffled,
                signedPayload: payload, data: try BoxJSON.text(row)))
    }

    /// Records the attempts to deliver notifications; what a reset has deleted meanwhile is passed over.
    func record(_ attempts: [(uuid: String, attempt: BoxNotification.Attempt)]) throws {
        for (uuid, attempt) in attempts {
            guard let row = try tx.box.findNotification(uuid) else { continue }
            try store(try BoxJSON.read(BoxNotification.self, row.data).trying(attempt), row.signedPayload)
        }
    }
}

extension BoxMeta {
    /// Reads the row's counters, or makes them where the box has only its keys.
    init(row: BoxMetaRow, random: RandomSource) throws {
        self = row.data == "{}" ? BoxMeta(random: random) : try BoxJSON.read(BoxMeta.self, row.data)
    }
}

/// The JSON of the box's rows.
enum BoxJSON {
    static func text(_ value: some Encodable) throws -> String { try JSONText.line(value) }

    /// - Throws: `corrupt` for a text that this release did not write.
    static func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        do { return try JSONDecoder().decode(type, from: Data(text.utf8)) } catch {
            throw StoreError.corrupt("a row of the box is no \(type)")
        }
    }
}
