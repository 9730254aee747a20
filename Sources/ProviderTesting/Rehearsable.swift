public import ProviderKit

/// A provider whose live service plays its own payers, so that an operator can run the kit against it.
public protocol Rehearsable: PaymentProvider {
    /// Returns a function that makes the rehearsals of one run of the kit.
    ///
    /// - Throws: why this service cannot be rehearsed with, in words for an operator.
    func rehearsals() async throws(RehearsalGap) -> @Sendable () -> any Rehearsal

    /// Checks of the service alone, beyond those that the kit makes through the provider.
    func examineService() async -> [ConformanceReport.Result]
}
