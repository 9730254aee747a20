extension Migrations {
    /// A wallet's token is charged once for ever: its signed transaction id belongs to the payment that came first.
    static let instrumentClaims = """
        CREATE TABLE instrument_claims (
            transaction_id {text} NOT NULL PRIMARY KEY,
            payment_id {text} NOT NULL UNIQUE REFERENCES payments (id),
            claimed_at {int} NOT NULL
        ) {strict};

        """
}
