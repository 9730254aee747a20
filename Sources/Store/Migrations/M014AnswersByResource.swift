extension Migrations {
    /// An index by which the stored answers about a user are found when the user is erased.
    static let answersByResource = """
        CREATE INDEX idempotency_by_resource ON idempotency_keys (resource) WHERE resource IS NOT NULL;

        """
}
