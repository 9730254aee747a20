extension Migrations {
    /// Facts from answers to queries; together with the facts of notifications, they are all that providers stated.
    static let learnedFacts = """
        CREATE TABLE learned_facts (
            id {text} NOT NULL PRIMARY KEY,
            account {text} NOT NULL,
            payment_id {text} NOT NULL REFERENCES payments (id),
            fact {text} NOT NULL,
            at {int} NOT NULL
        ) {strict};
        CREATE INDEX learned_facts_by_payment ON learned_facts (payment_id, id);

        """
}
