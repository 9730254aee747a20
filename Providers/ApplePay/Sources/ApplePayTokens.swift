import AppleTrust
public import Domain
public import FoundationEssentials
public import ProviderKit

/// Verifies tokens always, decrypts them where there is a key, and passes them to the processor in its form.
extension ApplePayProvider: InstrumentVerifying {
    public var processor: AccountID { settings.processor }
    public var tokenForm: InstrumentForm { settings.tokenForm }

    public func verify(token: Data, applicationData: Data) throws(InstrumentRefusal) -> VerifiedInstrument {
        do throws(ApplePayRefusal) {
            let verified = try trust.verifier.verify(
                try ApplePayToken(Array(token)), applicationData: Array(applicationData),
                at: context.time.milliseconds())
            guard !trust.keyRing.isEmpty else {
                return VerifiedInstrument(
                    transactionID: verified.transactionID, amount: nil, instrument: Self.encrypted(verified))
            }
            let decrypted = try trust.keyRing.decrypt(verified)
            let instrument =
                settings.tokenForm == .encrypted
                ? Self.encrypted(verified) : .networkToken(Self.networkToken(decrypted))
            return VerifiedInstrument(
                transactionID: verified.transactionID,
                amount: StatedAmount(value: decrypted.amountMinor, currencyNumber: decrypted.currencyNumeric),
                instrument: instrument)
        } catch {
            throw InstrumentRefusal(error.reason, detail: error.detail, transactionID: error.transactionID)
        }
    }

    private static func encrypted(_ verified: VerifiedToken) -> Instrument {
        let token = verified.token
        return .applePayEncrypted(
            EncryptedToken(
                paymentData: token.paymentData, transactionID: verified.transactionID,
                displayName: token.method.displayName, network: token.method.network))
    }

    private static func networkToken(_ decrypted: DecryptedToken) -> NetworkToken {
        decrypted.withCard { card in
            NetworkToken(
                accountNumber: SecretBytes(card.accountNumber), expiryMonth: card.expiryMonth,
                expiryYear: card.expiryYear, cryptogram: card.cryptogram.map { SecretBytes($0) },
                electronicCommerceIndicator: card.eci, emvData: card.emvData.map { SecretBytes($0) },
                encryptedPIN: card.encryptedPIN.map { SecretBytes($0) },
                deviceManufacturerID: decrypted.deviceManufacturerIdentifier,
                merchantTokenID: decrypted.merchantTokenIdentifier)
        }
    }
}
