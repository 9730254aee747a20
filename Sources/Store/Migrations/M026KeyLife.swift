extension Migrations {
    /// The expiry and the last use of API keys; stored keys do not expire, and their last use is unknown.
    static let keyLife = """
        ALTER TABLE api_keys ADD COLUMN expires_at {int};
        ALTER TABLE api_keys ADD COLUMN last_used_at {int};

        """
}
