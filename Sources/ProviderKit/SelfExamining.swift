/// A provider that can check its own settings offline, for `paydesk doctor`.
public protocol SelfExamining: PaymentProvider {
    /// Checks the account's certificates and keys without a connection.
    func examine() -> [Diagnosis]
}
