extension Migrations {
    /// Claims of wallet tokens: a token is charged only once, and its signed transaction id belongs to the first
    /// payment.
    static let instrumentClaims = """
        CREATE TABLE instrument_claims (
            transaction_id {text} NOT NULL PRIMARY KEY,
            payment_id {text} NOT NULL UNIQUE REFERENCES payments (id),
            claimed_at {int} NOT NULL
        ) {strict};

        """
}
