extension Migrations {
    /// The position of business time (`docs/domain.md` section 11).
    ///
    /// One row. While `stands_until` is ahead of the real time, a move holds the clock, and business time is `stands_at`;
    /// `move` is its number, `moved_by` the node that makes it, `version` the number of changes.
    static let clock = """
        CREATE TABLE clock (
            id {int} PRIMARY KEY CHECK (id = 1),
            offset_seconds {int} NOT NULL DEFAULT 0 CHECK (offset_seconds >= 0),
            stands_at {int},
            stands_until {int} NOT NULL DEFAULT 0,
            move {int} NOT NULL DEFAULT 0,
            moved_by {text} NOT NULL DEFAULT '',
            version {int} NOT NULL DEFAULT 0
        ) {strict};
        INSERT INTO clock (id) VALUES (1);
        """
}
