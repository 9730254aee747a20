extension Migrations {
    /// The reason of a refused notification, as one word; unknown for notifications that are stored already.
    static let refusalReasons = """
        ALTER TABLE notifications ADD COLUMN refusal {text};

        """
}
