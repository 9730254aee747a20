extension Migrations {
    /// When an API key ends, and when it was used last; those that are there have no end, and nothing is known of their use.
    static let keyLife = """
        ALTER TABLE api_keys ADD COLUMN expires_at {int};
        ALTER TABLE api_keys ADD COLUMN last_used_at {int};

        """
}
