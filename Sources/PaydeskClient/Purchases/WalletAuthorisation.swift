public import Foundation

/// The posting of a wallet's tokens for one order, and what is known of it when Apple's sheet closes.
public actor WalletAuthorisation {
    /// The answer for Apple's sheet.
    public enum Answer: Sendable, Equatable {
        case accepted
        /// Refused, with words for the customer; another card may follow.
        case refused(String)
    }

    private enum State { case nothing, unknown, accepted }

    private let desk: Paydesk
    private let order: String
    private var state = State.nothing

    public init(desk: Paydesk, order: String) {
        self.desk = desk
        self.order = order
    }

    /// Posts a token; a lost answer is asked for again with the same key for 25 seconds.
    public func authorise(
        paymentData: Data, transactionIdentifier: String, network: String?, displayName: String?
    ) async -> Answer {
        // From here on the token may be charged, whatever becomes of this device.
        state = .unknown
        do {
            let result = try await desk.applePayPayment(
                order: order, paymentData: paymentData, transactionIdentifier: transactionIdentifier,
                network: network, displayName: displayName, key: "apple-pay-\(transactionIdentifier)")
            guard result.status == .failed else {
                state = .accepted
                return .accepted
            }
            state = .nothing
            return .refused(
                desk.language.choose("The card was declined. Try another one.", "付款未成功，请换一张卡再试。"))
        } catch PaydeskError.refused(let refusal) where !PaydeskError.refused(refusal).isTemporary {
            state = .nothing
            return .refused(refusal.message)
        } catch {
            return .refused(ClientFailure(error).text(desk.language))
        }
    }

    /// The end of the sheet.
    ///
    /// - Returns: true: ask for the order, which is or may be paid.
    /// - Throws: `cancelled` where nothing was charged.
    public func finish() throws -> Bool {
        guard state != .nothing else { throw StorefrontError.cancelled }
        return true
    }
}
