public import Domain

/// A provider whose store can be asked what it has signed.
public protocol StoreSyncing: PurchaseVerifying {
    /// The environments in which the store can be queried; empty where the account has no key.
    var askedEnvironments: [Environment] { get }

    /// The interval at which subscriptions and missed notifications are queried, in seconds.
    var syncInterval: Int64 { get }

    /// Every subscription of the customer with this purchase: its last transaction and what is known of its renewal.
    ///
    /// It retries inside the call where that helps.
    func subscriptions(of purchase: StorePurchase) async throws(StoreSyncError) -> StoreAnswer

    /// Every purchase of the customer with this one, refunded ones too, or what has changed since.
    ///
    /// - Parameter cursor: the last answer's, of another day.
    func history(of purchase: StorePurchase, after cursor: String?) -> StorePages<StoreAnswer>

    /// The apps of the account whose notifications the store can be asked for.
    ///
    /// Each is asked for by itself, so that one that the store refuses keeps nothing from the others.
    func askedApps(in environment: Environment) -> [String]

    /// The notifications about one of these apps that the store sent in a time, as they would have arrived.
    func notifications(
        of app: String, in environment: Environment, from: Timestamp, until: Timestamp
    ) -> StorePages<[RawNotification]>

    /// Returns the time for which the store keeps notifications, in seconds.
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
    /// False where there is more that was not asked for, or not in time.
    public let isWhole: Bool

    public init(items: [Item], refused: Int, cursor: String?, isWhole: Bool = true) {
        self.items = items
        self.refused = refused
        self.cursor = cursor
        self.isWhole = isWhole
    }
}

/// The errors of a query to a store; closed, because what happens next depends on it.
public enum StoreSyncError: Error, Sendable, Equatable {
    /// The store does not know this purchase, or not yet: new ones can take a while.
    case unknownYet
    /// Trying again helps, not before this time where the store named one.
    case retryable(after: Timestamp?)
    /// The cursor is no longer good.
    case startAgain
    /// The store refuses, in words for an operator.
    case refused(String)
}

/// Pages of a store's answer, each fetched when it is asked for.
public struct StorePages<Page: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Page
    public typealias Failure = StoreSyncError
    public typealias Next = () async throws(StoreSyncError) -> Page?

    private let start: @Sendable () -> Next

    /// - Parameter start: begins anew and returns what fetches the next page, nil after the last one.
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
