extension Migrations {
    /// Some payment services compare where the payer is; it is kept, sealed, until the payment is opened or ends.
    static let payerAddresses = """
        ALTER TABLE payments ADD COLUMN payer_address {blob};

        """
}
