extension Migrations {
    /// The mode that a payment's account was in, `Sandbox` for a provider's test mode.
    ///
    /// Payments that are there keep `Production`, as their orders, grants and units do: which accounts were in test mode
    /// when they were made is not stored, and users keep what they have where they have it.
    static let paymentEnvironments = """
        ALTER TABLE payments ADD COLUMN environment {text} NOT NULL DEFAULT 'Production'
            CHECK (environment IN ('Production', 'Sandbox', 'Xcode'));
        """
}
