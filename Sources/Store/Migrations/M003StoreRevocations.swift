extension Migrations {
    /// The share of an order that a store revoked, also where it never signed a price.
    static let storeRevocations = """
        ALTER TABLE orders ADD COLUMN revoked_share {int} CHECK (revoked_share BETWEEN 0 AND 100000);
        UPDATE orders SET revoked_share = (
            SELECT CASE WHEN p.revocation_percentage BETWEEN 0 AND 100000 THEN p.revocation_percentage ELSE 100000 END
            FROM purchases p WHERE p.order_id = orders.id)
        WHERE EXISTS (SELECT 1 FROM purchases p WHERE p.order_id = orders.id AND p.revoked_at IS NOT NULL);

        """
}
