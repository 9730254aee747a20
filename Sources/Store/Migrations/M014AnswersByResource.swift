extension Migrations {
    /// The answers about a person are found when the person is erased.
    static let answersByResource = """
        CREATE INDEX idempotency_by_resource ON idempotency_keys (resource) WHERE resource IS NOT NULL;

        """
}
