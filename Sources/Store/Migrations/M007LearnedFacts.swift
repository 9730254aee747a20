extension Migrations {
    /// What providers answered when they were asked, beside what they notified: together they are all that was ever stated.
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
