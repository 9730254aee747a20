extension Migrations {
    /// The line item that identifies a period with several transaction ids, and the time of a store's refund of an order.
    ///
    /// The refund may be signed in another transaction than the one that has the order.
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
