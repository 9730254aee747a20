/// The things by which orders and money are summed; `method` is the contract type.
package enum StatsStep: String, Sendable, CaseIterable {
    case day, method, sku, account, platform
}
