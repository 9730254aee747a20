package import Domain
package import FoundationEssentials

/// An offer of a user in one form of signature.
package struct OfferPlace: Sendable, Hashable {
    package let user: ID<User>
    package let account: AccountID
    /// The product with its app, `bundle:product`.
    package let product: String
    package let offer: String
    package let format: String

    package init(user: ID<User>, account: AccountID, product: String, offer: String, format: String) {
        self.user = user
        self.account = account
        self.product = product
        self.offer = offer
        self.format = format
    }

    fileprivate var key: [any SQLBindable] { [user, account, product, offer, format] }
}

/// The living answers about offers that are redeemed once.
///
/// `db.offerSignatures` reads; `tx.offerSignatures` also writes.
package struct OfferSignatureQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var offerSignatures: OfferSignatureQueries<any Database> { OfferSignatureQueries(db: self, tx: self) }
}

extension Transaction {
    package var offerSignatures: OfferSignatureQueries<any Transaction> { OfferSignatureQueries(db: self, tx: self) }
}

extension OfferSignatureQueries {
    private static var condition: String {
        "user_id = ? AND account = ? AND product_id = ? AND offer_id = ? AND format = ?"
    }

    /// Finds an answer, sealed, that was signed after a time; nil where there is none.
    package func find(_ place: OfferPlace, signedAfter time: Timestamp) throws(StoreError) -> Data? {
        let arguments: [any SQLBindable] = place.key + [time]
        return try db.rows(
            "SELECT answer FROM offer_signatures WHERE \(Self.condition) AND signed_at > ?", arguments
        ).first?.blob("answer")
    }
}

extension OfferSignatureQueries where Connection == any Transaction {
    /// Replaces the answer of an offer.
    ///
    /// - Parameter time: the real time of the signature.
    package func upsert(_ place: OfferPlace, answer: Data, signedAt time: Timestamp) throws(StoreError) {
        let arguments: [any SQLBindable] = place.key + [time, answer]
        try tx.execute(
            """
            INSERT INTO offer_signatures (user_id, account, product_id, offer_id, format, signed_at, answer)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (user_id, account, product_id, offer_id, format) DO UPDATE SET
                signed_at = excluded.signed_at, answer = excluded.answer
            """, arguments)
    }
}
