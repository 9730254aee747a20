/// A provider that can judge its own settings without asking anybody, for `paydesk doctor`.
public protocol SelfExamining: PaymentProvider {
    /// What its certificates and keys are worth now; it makes no connection.
    func examine() -> [Diagnosis]
}
