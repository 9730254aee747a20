extension Migrations {
    /// The trace of the request that made an event, which its webhooks carry; NULL where the caller sent none.
    static let eventTraces = """
        ALTER TABLE events ADD COLUMN trace {text};

        """
}
