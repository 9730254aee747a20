package import AppleTrust

/// A page of a list.
package struct AppStorePage<Item: Sendable>: Sendable {
    package let environment: AppleEnvironment
    package let items: [Item]
    /// The token from which a later call continues; nil where Apple gives none.
    package let cursor: String?
    package let hasMore: Bool
}

/// The pages of a list, each fetched when it is asked for, so that memory does not grow with their number.
///
/// Pages are read from the environment that gave the first one.
package struct AppStorePages<Item: Sendable>: AsyncSequence, Sendable {
    package typealias Element = AppStorePage<Item>
    package typealias Failure = AppStoreServerError

    /// No customer has 20,000 transactions; more pages are a fault.
    static var limit: Int { 1_000 }
    /// Apple's cursors have some 100 bytes.
    static var longestCursor: Int { 4_096 }

    let start: String?
    let place: AppStoreSearch
    let limit: Int
    let fetch: @Sendable (String?, AppStoreSearch) async throws(AppStoreServerError) -> AppStorePage<Item>

    init(
        from start: String?, in place: AppStoreSearch, limit: Int = Self.limit,
        fetch: @escaping @Sendable (String?, AppStoreSearch) async throws(AppStoreServerError) -> AppStorePage<Item>
    ) {
        self.start = start
        self.place = place
        self.limit = limit
        self.fetch = fetch
    }

    package func makeAsyncIterator() -> Iterator { Iterator(self) }

    package struct Iterator: AsyncIteratorProtocol {
        private let pages: AppStorePages
        private var cursor: String?
        private var place: AppStoreSearch
        private var isDone = false
        private var count = 0
        // Brent's cycle detection: one cursor is kept, and replaced at every power of two.
        private var marked: String?
        private var nextMark = 1

        init(_ pages: AppStorePages) {
            self.pages = pages
            cursor = pages.start
            marked = pages.start
            place = pages.place
        }

        package mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(AppStoreServerError) -> AppStorePage<Item>? {
            guard !isDone else { return nil }
            // Whatever ends the list ends it for good.
            isDone = true
            guard count < pages.limit else { throw .tooManyPages }
            let page = try await pages.fetch(cursor, place)
            count += 1
            guard page.hasMore else { return page }
            guard page.cursor != cursor, page.cursor != marked else { throw .pagingLoop }
            cursor = page.cursor
            place = .only(page.environment)
            if count == nextMark { (marked, nextMark) = (cursor, nextMark * 2) }
            isDone = false
            return page
        }
    }
}

extension AppStoreServerAPI {
    /// Fetches a page in the environment that knows the transaction.
    func page<Item: Sendable>(
        in place: AppStoreSearch, _ ask: (AppleEnvironment) async throws(AppStoreServerError) -> AppStorePage<Item>
    ) async throws(AppStoreServerError) -> AppStorePage<Item> {
        try await find(place, ask).value
    }
}

/// A page of signed transactions, as the histories of purchases and of refunds give it.
struct SignedTransactionsPage: Decodable {
    let signedTransactions: [SignedText]
    let revision: String?
    let hasMore: Bool

    func page(_ environment: AppleEnvironment) throws(AppStoreAnswerDefect) -> AppStorePage<SignedText> {
        AppStorePage(
            environment: environment, items: signedTransactions,
            cursor: try checkedCursor(revision, hasMore: hasMore, "revision"), hasMore: hasMore)
    }
}

/// A cursor that a page gave.
///
/// - Throws: where there are more pages and nothing leads to them.
func checkedCursor(_ cursor: String?, hasMore: Bool, _ name: String) throws(AppStoreAnswerDefect) -> String? {
    let usable = cursor.flatMap {
        (1...AppStorePages<SignedText>.longestCursor).contains($0.utf8.count) ? $0 : nil
    }
    if hasMore && usable == nil { throw AppStoreAnswerDefect("\(name) is missing although there is more") }
    return usable
}
