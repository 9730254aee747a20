extension Migrations {
    /// App receipts: each covers many purchases, so it is stored once, and only while one of them has no better
    /// evidence.
    static let receipts = """
        CREATE TABLE receipts (
            digest {text} NOT NULL PRIMARY KEY,
            account {text} NOT NULL,
            evidence {blob} NOT NULL,
            received_at {int} NOT NULL
        ) {strict};
        ALTER TABLE purchases ADD COLUMN receipt {text} REFERENCES receipts (digest);
        -- The newest receipt that says that it was taken back: when that was signed, and when it was taken back.
        ALTER TABLE purchases ADD COLUMN receipt_signed_at {int};
        ALTER TABLE purchases ADD COLUMN receipt_revoked_at {int};
        CREATE INDEX purchases_by_receipt ON purchases (receipt) WHERE receipt IS NOT NULL;

        """
}
