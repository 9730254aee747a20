extension Migrations {
    /// Removes an index that no query uses any more, but into which every event was entered and taken out again.
    static let eventIndex = """
        DROP INDEX events_undispatched;

        """
}
