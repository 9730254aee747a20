/// The subject of a store's statements: one original transaction of one environment.
package struct StoreSubject: Hashable, Sendable {
    package let environment: Environment
    package let original: String

    package init(_ purchase: StorePurchase) {
        environment = purchase.environment
        original = purchase.originalTransactionID
    }

    package init(_ renewal: StoreRenewal) {
        environment = renewal.environment
        original = renewal.originalTransactionID
    }

    package init(_ environment: Environment, _ original: String) {
        self.environment = environment
        self.original = original
    }
}
