extension Migrations {
    /// Indexes for admins' lists and sums.
    static let reports = """
        CREATE INDEX orders_by_payday ON orders (paid_at) WHERE paid_at IS NOT NULL;
        CREATE INDEX purchases_by_user ON purchases (user_id) WHERE user_id IS NOT NULL;
        CREATE INDEX purchases_waiting ON purchases (received_at, environment, key)
            WHERE sku IS NULL OR user_id IS NULL;
        CREATE INDEX purchases_revoked ON purchases (revoked_at) WHERE revoked_at IS NOT NULL;

        """
}
