extension Migrations {
    /// Signed offers, and the consents that people withdrew at the App Store.
    ///
    /// `offer_signatures` holds the one answer that lives for an offer that is redeemed once; its `product_id` names the
    /// app too, `bundle:product`. `rescinded_consents` remembers what was announced, so that a notification that is
    /// processed again announces nothing. Stored purchases get their `app_transaction_id` by a job, because it is inside
    /// of their sealed evidence.
    static let signedOffers = """
        CREATE TABLE offer_signatures (
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            account {text} NOT NULL,
            product_id {text} NOT NULL,
            offer_id {text} NOT NULL,
            format {text} NOT NULL CHECK (format IN ('v1', 'v2')),
            signed_at {int} NOT NULL,
            answer {blob} NOT NULL,
            PRIMARY KEY (user_id, account, product_id, offer_id, format)
        ) {strict};
        CREATE INDEX offer_signatures_by_time ON offer_signatures (signed_at);
        CREATE TABLE rescinded_consents (
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
            app_transaction_id {text} NOT NULL,
            rescinded_at {int} NOT NULL,
            PRIMARY KEY (environment, app_transaction_id, rescinded_at)
        ) {strict};
        CREATE INDEX purchases_by_app_transaction ON purchases (app_transaction_id, environment)
            WHERE app_transaction_id IS NOT NULL;
        INSERT INTO jobs (id, kind, subject, state, run_at, created_at)
            SELECT 'job_00000000000000000000000037', 'name_app_transactions', '', 'waiting', 0, 0
            WHERE EXISTS (SELECT 1 FROM purchases WHERE evidence IS NOT NULL AND environment <> 'Xcode');

        """
}
