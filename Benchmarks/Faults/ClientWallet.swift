import Foundation
import TestSupport

// Payments by Apple Pay.
extension Client {
    mutating func buyByWallet() async throws {
        let (cart, act) = try checkout(
            at: dice.chance(30) ? Configuration.losingAccount : Configuration.walletAccount)
        guard case .opened(let order, let payment, let amount, let wallet?) = try await ask(act) else { return }
        let opened = OpenedOrder(id: order, payment: payment, cart: cart, amount: amount)
        let token = try token(opened, boundTo: wallet)
        let told = dice.chance(30) ? try await both(token, token) : try await ask(token)
        if dice.chance(20) { try await ask(token) }
        if told == .paid { try await refundSome(opened) }
    }

    /// Makes a token as the wallet does, bound to a contract.
    func token(_ order: OpenedOrder, boundTo wallet: String) throws -> Act {
        let data = Data(base64Encoded: wallet).map(Array.init)
        let token = ApplePayTestTokens.token(
            amount: order.amount, applicationData: data, at: Int64(Date().timeIntervalSince1970))
        let request = Request(
            method: "POST", path: "/v1/public/apple-pay/payments",
            headers: ["Content-Type": "application/json", "Authorization": "Bearer \(try UserToken.make(user))"],
            body: #"{"order_id":"\#(order.id)","token":\#(String(decoding: token, as: UTF8.self))}"#)
        return Act(purpose: .pay(order), request: request)
    }
}
