import Domain
import Foundation
import Gateway
import TestSupport

/// The memory of a sync job that asks about every subscription of an account, in this process.
///
/// The job, its database and the client of Apple's server API are the real ones; Apple answers without a network, and the
/// pauses of the rate limits move the clock instead of taking time.
enum SyncSection {
    /// The divisor of the subscriptions from which memory is compared: by then all code and caches have been used once.
    private static let first = 10

    static func figures(subscriptions: Int) async throws -> [Figure] {
        let store = ManyCustomers(sampling: max(1, subscriptions / 100))
        var setup = AppStoreGatewayFixtureSetup { $0.appStore = store }
        setup.desk.checksInvariants = false
        setup.desk.watch = StatementWatch(keepsStatements: false)
        var figures: [Figure] = []
        try await withAppleDesk(on: .sqlite, setup) { apple in
            for number in 0..<subscriptions {
                try await apple.attach(ManyCustomers.sale(number, period: 0), user: "customer-\(number)")
            }
            let outcome = try await apple.gateway.accountReconciliation.sync("apple-iap", context: .test)
            guard case .done(let checked, let changed, _) = outcome, checked == changed, checked == subscriptions else {
                throw BenchFailure(description: "the sync ended with \(outcome)")
            }
            let early = store.peak(before: subscriptions / first)
            let peak = store.peak(before: subscriptions)
            figures = [
                Figure(
                    section: .sync, name: "subscriptions synced, each renewed meanwhile", value: Double(checked),
                    unit: ""),
                Figure(
                    section: .sync, name: "memory while the first \(subscriptions / first) were synced", value: early,
                    unit: "MiB"),
                Figure(
                    section: .sync, name: "memory while all \(subscriptions) were synced", value: peak, unit: "MiB",
                    base: .figure("the first \(subscriptions / first)", early), aim: .atMost(1.1)),
            ]
        }
        return figures
    }
}
