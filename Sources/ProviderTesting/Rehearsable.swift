public import ProviderKit

/// A provider whose live service can play its own payers, so that an operator can run the kit against it.
public protocol Rehearsable: PaymentProvider {
    /// Returns a function that makes the rehearsals of one run of the kit.
    ///
    /// - Throws: the reason, for an operator, why this service cannot be rehearsed with.
    func rehearsals() async throws(RehearsalGap) -> @Sendable () -> any Rehearsal

    /// Checks the service alone, beyond what the kit checks through the provider.
    func examineService() async -> [ConformanceReport.Result]
}
