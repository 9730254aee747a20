/// A provider that can judge its own settings without asking anybody, for `paydesk doctor`.
public protocol SelfExamining: PaymentProvider {
    /// Examines the account's certificates and keys; makes no connection.
    func examine() -> [Diagnosis]
}
