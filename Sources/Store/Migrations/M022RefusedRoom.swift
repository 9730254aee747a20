extension Migrations {
    /// The size of refused notifications and the validity of their signature, because unsigned ones are deleted first.
    ///
    /// For stored notifications the reason decides about the signature; `unreadable` can be either and counts as
    /// unsigned. Open orders are counted by user, and earlier free orders are found by user and SKU; stored orders
    /// count.
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
