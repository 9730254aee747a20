extension Migrations {
    /// App Store transactions in their newest signed version, and the owner of each original transaction.
    static let storePurchases = """
        CREATE TABLE purchases (
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
            key {text} NOT NULL,
            account {text} NOT NULL,
            bundle_id {text} NOT NULL,
            product_id {text} NOT NULL,
            transaction_id {text} NOT NULL,
            original_transaction_id {text} NOT NULL,
            kind {text} NOT NULL,
            purchased_at {int} NOT NULL,
            expires_at {int},
            signed_at {int} NOT NULL,
            quantity {int} NOT NULL CHECK (quantity > 0),
            price {int},
            currency {text},
            app_account_token {text},
            is_renewal {int} NOT NULL CHECK (is_renewal IN (0, 1)),
            is_upgraded {int} NOT NULL CHECK (is_upgraded IN (0, 1)),
            is_family_shared {int} NOT NULL CHECK (is_family_shared IN (0, 1)),
            revoked_at {int},
            revocation_reason {int},
            revocation_percentage {int},
            evidence {blob},
            received_at {int} NOT NULL,
            user_id {text} REFERENCES user_states (user_id),
            sku {text} REFERENCES skus (id),
            days {int},
            order_id {text} REFERENCES orders (id),
            PRIMARY KEY (environment, key)
        ) {strict};
        CREATE INDEX purchases_by_original ON purchases (environment, original_transaction_id);
        CREATE UNIQUE INDEX purchases_by_order ON purchases (order_id) WHERE order_id IS NOT NULL;
        CREATE INDEX purchases_unmapped ON purchases (environment, key) WHERE sku IS NULL;
        CREATE TABLE purchase_owners (
            environment {text} NOT NULL CHECK (environment IN ('Production', 'Sandbox', 'Xcode')),
            original_transaction_id {text} NOT NULL,
            user_id {text} NOT NULL REFERENCES user_states (user_id),
            bound_at {int} NOT NULL,
            PRIMARY KEY (environment, original_transaction_id)
        ) {strict};
        ALTER TABLE apple_products ADD COLUMN is_pattern {int} NOT NULL DEFAULT 0;
        UPDATE apple_products SET is_pattern = 1 WHERE entry LIKE '%${%';
        CREATE INDEX apple_products_patterns ON apple_products (entry) WHERE is_pattern = 1;

        """
}
