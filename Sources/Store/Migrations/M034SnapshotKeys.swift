extension Migrations {
    /// The keys that sign snapshots of entitlements; times are real time.
    static let snapshotKeys = """
        CREATE TABLE snapshot_keys (
            -- The thumbprint of the public key (RFC 7638).
            kid {text} NOT NULL PRIMARY KEY,
            -- 1, 2, …; the newest signs.
            n {int} NOT NULL UNIQUE,
            -- The private key, sealed.
            secret {blob} NOT NULL,
            -- The coordinates x and y, 32 bytes each.
            public_key {blob} NOT NULL,
            made_at {int} NOT NULL,
            -- The end of what it has signed; null for the key that signs.
            published_until {int}
        ) {strict};
        """
}
