#if canImport(PassKit)
    import Foundation
    public import PassKit
    public import PaydeskClient

    /// Apple's payment request for a contract.
    public struct ApplePayRequest {
        public let request: PKPaymentRequest

        /// - Returns: nil for a contract of another type, or one whose amount is no number.
        public init?(_ contract: Contract) {
            guard case .applePay(let terms) = contract.payment,
                let data = Data(base64Encoded: terms.applicationData)
            else { return nil }
            let amount = NSDecimalNumber(string: terms.total.amount, locale: Locale(identifier: "en_US_POSIX"))
            guard amount != .notANumber else { return nil }
            let request = PKPaymentRequest()
            request.merchantIdentifier = terms.merchantIdentifier
            request.countryCode = terms.countryCode
            request.currencyCode = terms.currencyCode
            request.supportedNetworks = terms.supportedNetworks.compactMap { Self.networks[$0] }
            request.merchantCapabilities = Self.capabilities(terms.merchantCapabilities)
            request.paymentSummaryItems = [PKPaymentSummaryItem(label: terms.total.label, amount: amount)]
            // The token is good for this payment alone.
            request.applicationData = data
            self.request = request
        }

        /// True where this device can pay at all: show the button then.
        public static var canMakePayments: Bool { PKPaymentAuthorizationController.canMakePayments() }

        /// True where the customer has a card of one of these networks ("visa", "chinaUnionPay").
        public static func canMakePayments(networks: [String]) -> Bool {
            PKPaymentAuthorizationController.canMakePayments(
                usingNetworks: networks.compactMap { Self.networks[$0] })
        }

        /// Networks by the names of the contract.
        static var networks: [String: PKPaymentNetwork] {
            [
                "amex": .amex, "cartesBancaires": .cartesBancaires, "chinaUnionPay": .chinaUnionPay,
                "discover": .discover, "eftpos": .eftpos, "electron": .electron, "elo": .elo, "girocard": .girocard,
                "interac": .interac, "jcb": .JCB, "mada": .mada, "maestro": .maestro, "masterCard": .masterCard,
                "mir": .mir, "privateLabel": .privateLabel, "visa": .visa, "vPay": .vPay,
            ]
        }

        /// Capabilities by the names of the contract; by number, since their Swift names changed with the SDKs.
        static func capabilities(_ names: [String]) -> PKMerchantCapability {
            let bits: [String: UInt] = [
                "supports3DS": 1, "supportsEMV": 2, "supportsCredit": 4, "supportsDebit": 8,
            ]
            return PKMerchantCapability(rawValue: names.reduce(0) { $0 | (bits[$1] ?? 0) })
        }
    }
#endif
