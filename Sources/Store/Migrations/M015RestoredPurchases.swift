extension Migrations {
    /// What tells a period that comes under several ids, and when a store took back what an order paid for.
    ///
    /// The row that has the order need not be the one that says so.
    static let restoredPurchases = """
        ALTER TABLE purchases ADD COLUMN web_order_line_item_id {text};
        ALTER TABLE orders ADD COLUMN returned_at {int};
        UPDATE orders SET returned_at = (
            SELECT p.revoked_at / 1000 FROM purchases p WHERE p.order_id = orders.id)
        WHERE revoked_share IS NOT NULL;
        CREATE INDEX orders_by_return ON orders (returned_at) WHERE returned_at IS NOT NULL;
        DROP INDEX purchases_revoked;

        """
}
