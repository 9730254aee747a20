#if canImport(PassKit)
    public import Foundation
    public import PassKit
    public import PaydeskClient

    /// Apple's payment sheet for one contract: it posts the wallet's token and answers the sheet.
    public final class ApplePaySheet: NSObject, PKPaymentAuthorizationControllerDelegate, Sendable {
        private let desk: Paydesk
        private let contract: Contract
        private let authorisation: WalletAuthorisation
        private let (closed, close) = AsyncStream.makeStream(of: Void.self)

        public init(desk: Paydesk, contract: Contract) {
            self.desk = desk
            self.contract = contract
            authorisation = WalletAuthorisation(desk: desk, order: contract.orderID)
        }

        /// Shows the sheet and waits until it is closed; the exit of a checkout.
        ///
        /// - Returns: true: the order is or may be paid, ask for it.
        /// - Throws: `cancelled` where nothing was charged, `notAvailable` where the sheet cannot be shown.
        @MainActor
        public func present() async throws -> Bool {
            guard let request = ApplePayRequest(contract)?.request else { throw StorefrontError.notAvailable }
            let controller = PKPaymentAuthorizationController(paymentRequest: request)
            controller.delegate = self
            guard await controller.present() else { throw StorefrontError.notAvailable }
            for await _ in closed { break }
            return try await authorisation.finish()
        }

        public func paymentAuthorizationController(
            _: PKPaymentAuthorizationController, didAuthorizePayment payment: PKPayment
        ) async -> PKPaymentAuthorizationResult {
            let token = payment.token
            let answer = await authorisation.authorise(
                paymentData: token.paymentData, transactionIdentifier: token.transactionIdentifier,
                network: token.paymentMethod.network?.rawValue, displayName: token.paymentMethod.displayName)
            switch answer {
            case .accepted: return PKPaymentAuthorizationResult(status: .success, errors: nil)
            case .refused(let words):
                let error = NSError(
                    domain: PKPaymentErrorDomain, code: -1, userInfo: [NSLocalizedDescriptionKey: words])
                return PKPaymentAuthorizationResult(status: .failure, errors: [error])
            }
        }

        public func paymentAuthorizationControllerDidFinish(_ controller: PKPaymentAuthorizationController) {
            let close = close
            controller.dismiss { close.yield() }
        }
    }
#endif
