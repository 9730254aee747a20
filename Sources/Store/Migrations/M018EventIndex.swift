extension Migrations {
    /// No query asks for undispatched events by subject any more, and every event was entered and taken out again.
    static let eventIndex = """
        DROP INDEX events_undispatched;

        """
}
