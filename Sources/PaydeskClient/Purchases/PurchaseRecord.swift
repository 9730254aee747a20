import Foundation

/// A transaction on its way to the server: the content of one file.
public struct PurchaseRecord: Sendable, Equatable, Codable {
    public enum State: String, Sendable, Codable {
        /// To be sent.
        case waiting
        /// The server has it; to be finished.
        case stored
        /// Refused; kept, and sent again at the next start.
        case refused
    }

    public let transactionID: String
    public let productID: String
    /// The user to whom it belongs; nil until somebody is logged in, where nobody was known.
    public internal(set) var user: String?
    var jws: String
    public internal(set) var state: State
    /// The reason for which it was not stored: an error's id.
    public internal(set) var reason: String?
    public internal(set) var tries: Int
    /// The time before which it is not sent, in seconds since 1970.
    public internal(set) var nextAt: Int64

    enum CodingKeys: String, CodingKey {
        case user, jws, state, reason, tries
        case transactionID = "transaction_id"
        case productID = "product_id"
        case nextAt = "next_at"
    }

    init(_ transaction: StoreTransaction, user: String?) {
        transactionID = transaction.id
        productID = transaction.productID
        jws = transaction.jws
        self.user = user
        state = .waiting
        tries = 0
        nextAt = 0
    }
}

/// The files of ``PurchaseCoordinator``: one for each transaction, and the users by their `appAccountToken`.
struct PurchaseFiles: Sendable {
    private static let accounts = "accounts.json"

    private let purchases: DurableFolder
    private let known: DurableFolder

    /// - Parameter step: see ``DurableFolder/step``.
    init(_ folder: URL, step: @escaping @Sendable (PurchaseStep) throws -> Void) {
        purchases = DurableFolder(url: folder.appendingPathComponent("purchases"), step: step)
        known = DurableFolder(url: folder.appendingPathComponent("users"))
    }

    /// Reads every purchase.
    ///
    /// A file that the system does not give yet (a device that was not unlocked) stays where it is.
    ///
    /// - Returns: the purchases, and the names of files that could not be read; damaged ones were put aside.
    func load() throws -> (records: [PurchaseRecord], unreadable: [String]) {
        var records: [PurchaseRecord] = []
        var unreadable: [String] = []
        for name in try purchases.names() {
            guard let content = try? purchases.read(name) else {
                unreadable.append(name)
                continue
            }
            if let record = try? JSONDecoder().decode(PurchaseRecord.self, from: content),
                FileNames.name(record.transactionID) == name
            {
                records.append(record)
            } else {
                try? purchases.putAside(name)
                unreadable.append(name)
            }
        }
        return (records, unreadable)
    }

    func save(_ record: PurchaseRecord) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try purchases.write(try encoder.encode(record), to: FileNames.name(record.transactionID))
    }

    func remove(_ record: PurchaseRecord) throws { try purchases.remove(FileNames.name(record.transactionID)) }

    /// The users by the `appAccountToken` that the server gave them.
    func users() -> [UUID: String] {
        guard let content = (try? known.read(Self.accounts)).flatMap({ $0 }),
            let users = try? JSONDecoder().decode([String: String].self, from: content)
        else { return [:] }
        return Dictionary(
            users.compactMap { text, user in UUID(uuidString: text).map { ($0, user) } }, uniquingKeysWith: { $1 })
    }

    func save(users: [UUID: String]) throws {
        let texts = Dictionary(users.map { ($0.uuidString, $1) }, uniquingKeysWith: { $1 })
        try known.write(try JSONEncoder().encode(texts), to: Self.accounts)
    }
}
