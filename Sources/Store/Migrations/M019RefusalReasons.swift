extension Migrations {
    /// A refused notification says why in a word; of those that are kept already nobody knows it.
    static let refusalReasons = """
        ALTER TABLE notifications ADD COLUMN refusal {text};

        """
}
