extension Migrations {
    /// The App Store in a box of development, the mark of its purchases, and the index of the list of all purchases.
    ///
    /// A row of the box stands as JSON beside the columns by which it is found; its times are milliseconds.
    static let appStoreBox = """
        ALTER TABLE purchases ADD COLUMN box {int} NOT NULL DEFAULT 0 CHECK (box IN (0, 1));
        CREATE INDEX purchases_from_box ON purchases (environment, key) WHERE box = 1;
        CREATE INDEX purchases_by_arrival ON purchases (received_at, environment, key);
        CREATE TABLE box_meta (
            name {text} NOT NULL PRIMARY KEY CHECK (name = 'box'),
            -- Its certificates and keys, sealed.
            authority {blob} NOT NULL,
            data {text} NOT NULL
        );
        CREATE TABLE box_transactions (
            id {text} NOT NULL PRIMARY KEY,
            original_id {text} NOT NULL,
            customer {text} NOT NULL,
            product_id {text} NOT NULL,
            data {text} NOT NULL
        );
        CREATE INDEX box_transactions_by_original ON box_transactions (original_id, id);
        CREATE INDEX box_transactions_by_customer ON box_transactions (customer, product_id, id);
        CREATE TABLE box_subscriptions (
            original_id {text} NOT NULL PRIMARY KEY,
            customer {text} NOT NULL,
            group_id {text} NOT NULL,
            -- The original transaction of the family's payer.
            shared_from {text},
            -- When something happens to it by itself; null: never.
            due_at {int},
            data {text} NOT NULL
        );
        CREATE INDEX box_subscriptions_by_customer ON box_subscriptions (customer, group_id, original_id);
        CREATE INDEX box_subscriptions_shared ON box_subscriptions (shared_from, original_id)
            WHERE shared_from IS NOT NULL;
        CREATE INDEX box_subscriptions_due ON box_subscriptions (due_at, original_id) WHERE due_at IS NOT NULL;
        CREATE TABLE box_notifications (
            uuid {text} NOT NULL PRIMARY KEY,
            number {int} NOT NULL UNIQUE,
            -- When it is sent; null once it was sent, and for one that is never sent.
            due_at {int},
            -- 1 while it waits for others, to be sent in random order.
            waits_for_others {int} NOT NULL CHECK (waits_for_others IN (0, 1)),
            signed_payload {text} NOT NULL,
            data {text} NOT NULL
        );
        CREATE INDEX box_notifications_due ON box_notifications (due_at, number) WHERE due_at IS NOT NULL;
        CREATE INDEX box_notifications_held ON box_notifications (number) WHERE waits_for_others = 1;

        """
}
