extension Migrations {
    /// Refused notifications have a size and say whether their signature was good, because those that nobody signed make
    /// room first; of those that are kept already the reason tells it, and `unreadable` may be either, so it is not.
    ///
    /// Open orders are counted by user, and what was free once is found by user and SKU. Orders that are there count.
    static let refusedRoom = """
        ALTER TABLE notifications ADD COLUMN refused_bytes {int} NOT NULL DEFAULT 0 CHECK (refused_bytes >= 0);
        ALTER TABLE notifications ADD COLUMN refused_signed {int} NOT NULL DEFAULT 0 CHECK (refused_signed IN (0, 1));
        UPDATE notifications SET refused_bytes = COALESCE(LENGTH(body), 0) + COALESCE(LENGTH(headers), 0),
            refused_signed = CASE WHEN refusal IN
                ('other_app', 'other_merchant', 'other_mode', 'other_payment', 'bad_money') THEN 1 ELSE 0 END
        WHERE status = 'rejected';
        CREATE INDEX notifications_refused ON notifications (account, refused_signed, id, refused_bytes)
            WHERE status = 'rejected';
        CREATE INDEX orders_open_by_user ON orders (user_id, expires_at) WHERE state = 'open';
        CREATE INDEX orders_free_by_user ON orders (user_id, sku) WHERE amount = 0;

        """
}
