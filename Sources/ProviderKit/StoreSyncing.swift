public import Domain

/// A provider whose store can be queried for its signed statements.
public protocol StoreSyncing: PurchaseVerifying {
    /// The environments in which the store can be queried; empty where the account has no key.
    var askedEnvironments: [Environment] { get }

    /// The interval at which subscriptions and missed notifications are queried, in seconds.
    var syncInterval: Int64 { get }

    /// Returns every subscription of the customer with this purchase: its last transaction and its renewal information.
    ///
    /// It retries inside the call where that helps.
    func subscriptions(of purchase: StorePurchase) async throws(StoreSyncError) -> StoreAnswer

    /// Lists every purchase of the customer with this one, including refunded ones, or the changes since a cursor.
    ///
    /// - Parameter cursor: the cursor of an earlier answer.
    func history(of purchase: StorePurchase, after cursor: String?) -> StorePages<StoreAnswer>

    /// Returns the apps of the account whose notifications can be requested.
    ///
    /// Each is requested separately, so that a refusal of one does not affect the others.
    func askedApps(in environment: Environment) -> [String]

    /// Lists the notifications about one of these apps that the store sent in a period, in the form in which they would
    /// have arrived.
    func notifications(
        of app: String, in environment: Environment, from: Timestamp, until: Timestamp
    ) -> StorePages<[RawNotification]>

    /// Returns the seconds for which the store provides past notifications.
    func keepsNotifications(in environment: Environment) -> Int64
}

/// A store's verified answer.
public struct StoreAnswer: Sendable {
    /// A statement with the store's own signed text of its purchase.
    public struct Item: Sendable {
        public let statement: StoreStatement
        public let evidence: PurchaseEvidence?

        public init(statement: StoreStatement, evidence: PurchaseEvidence?) {
            self.statement = statement
            self.evidence = evidence
        }
    }

    public let items: [Item]
    /// The number of texts that did not verify; they are left out.
    public let refused: Int
    /// The cursor from which a later query continues.
    public let cursor: String?
    /// False where there is more that was not queried, or not in time.
    public let isWhole: Bool

    public init(items: [Item], refused: Int, cursor: String?, isWhole: Bool = true) {
        self.items = items
        self.refused = refused
        self.cursor = cursor
        self.isWhole = isWhole
    }
}

/// The errors of a query to a store; closed, because Paydesk's next step depends on them.
public enum StoreSyncError: Error, Sendable, Equatable {
    /// The store does not know this purchase, or not yet: new ones take a while.
    case unknownYet
    /// A retry helps, but not before this time where the store named one.
    case retryable(after: Timestamp?)
    /// The cursor is no longer valid.
    case startAgain
    /// The store refuses; the text is for an operator.
    case refused(String)
}

/// Pages of a store's answer, each fetched on demand.
public struct StorePages<Page: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Page
    public typealias Failure = StoreSyncError
    public typealias Next = () async throws(StoreSyncError) -> Page?

    private let start: @Sendable () -> Next

    /// - Parameter start: begins again and returns a function that fetches the next page, or nil after the last one.
    public init(_ start: @escaping @Sendable () -> Next) { self.start = start }

    public func makeAsyncIterator() -> Iterator { Iterator(fetch: start()) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let fetch: Next

        public mutating func next(
            isolation actor: isolated (any _Concurrency.Actor)?
        ) async throws(StoreSyncError) -> Page? {
            try await fetch()
        }
    }
}
