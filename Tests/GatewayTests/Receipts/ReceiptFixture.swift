import Domain
import Gateway
import ProviderKit
import Store
import TestSupport

/// Runs a test at a desk that takes receipts.
func withReceiptDesk(
    on engine: TestEngine, _ edit: (inout AppStoreGatewayFixtureSetup) -> Void = { _ in },
    _ body: (AppStoreGatewayFixture) async throws -> Void
) async throws {
    let setup = AppStoreGatewayFixtureSetup {
        $0.trustsReceipts = true
        $0.sharedSecret = ReceiptFixture.secret
        edit(&$0)
    }
    try await withAppleDesk(on: engine, setup, body)
}

enum ReceiptFixture {
    static let secret = "5d41402abc4b2a76b9719d911017c592"
}

extension AppStoreGatewayFixture {
    func receipt(_ sales: AppleSale..., edit: (inout AppleReceipt) -> Void = { _ in }) -> AppleReceipt {
        AppleReceipt(sales, at: now, edit)
    }

    @discardableResult
    func verify(
        _ receipt: AppleReceipt, _ id: String, user: String = "alice"
    ) async throws -> VerifiedPurchase {
        try await gateway.receipts.verify(
            receipt.base64, transactionID: id, user: GatewayFixture.user(user), context: .test)
    }

    /// Returns the reason why a receipt is refused; nil where it is not.
    func refusal(of receipt: String, _ id: String, user: String = "alice") async throws -> GatewayError? {
        let user = GatewayFixture.user(user)
        do throws(GatewayError) {
            _ = try await gateway.receipts.verify(receipt, transactionID: id, user: user, context: .test)
            return nil
        } catch {
            return error
        }
    }

    /// The report about a receipt; `user` nil asks with the shared secret.
    func report(
        _ receipt: AppleReceipt, user: String? = "alice", newestOnly: Bool = false
    ) async throws -> ReceiptReport? {
        let answer = try await gateway.receipts.validate(
            receipt.base64, password: user == nil ? ReceiptFixture.secret : nil, newestOnly: newestOnly,
            user: user.map { GatewayFixture.user($0) }, context: .test)
        guard case .report(let report) = answer else { return nil }
        return report
    }

    /// The status that stands in a report's stead.
    func status(of receipt: AppleReceipt, user: String? = "alice") async throws -> Int64? {
        let answer = try await gateway.receipts.validate(
            receipt.base64, password: user == nil ? ReceiptFixture.secret : nil, newestOnly: false,
            user: user.map { GatewayFixture.user($0) }, context: .test)
        guard case .status(let status) = answer else { return nil }
        return status
    }
}
