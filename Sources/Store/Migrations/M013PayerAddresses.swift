extension Migrations {
    /// The payer's address, which some payment services compare: stored, sealed, until the payment is opened or final.
    static let payerAddresses = """
        ALTER TABLE payments ADD COLUMN payer_address {blob};

        """
}
