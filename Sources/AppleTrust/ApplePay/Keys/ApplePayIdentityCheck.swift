/// A check that a Merchant Identity certificate, its key and the configured merchant identifier belong together.
public struct ApplePayIdentityCheck: Sendable {
    /// The faults that were found.
    public let faults: [ApplePayKeyFault]
    /// The last moment at which the certificate is valid, in milliseconds since 1970-01-01 UTC; nil where it cannot be
    /// read.
    public let notValidAfter: Int64?

    /// - Parameters:
    ///   - certificate: PEM or DER.
    ///   - privateKey: PKCS #8 or PKCS #1, in PEM or DER.
    public init(certificate: [UInt8], privateKey: [UInt8], merchantIdentifier: String) {
        do throws(ApplePayKeyFault) {
            let certificate = try MerchantCertificate(certificate)
            notValidAfter = certificate.notValidAfter
            faults = [
                Self.fault { () throws(ApplePayKeyFault) in
                    guard case .rsa = try MerchantPrivateKey(privateKey, of: certificate) else {
                        throw .identityIsNotRSA
                    }
                },
                Self.fault { () throws(ApplePayKeyFault) in
                    try certificate.check(merchantIdentifier: merchantIdentifier)
                },
            ].compactMap(\.self)
        } catch {
            notValidAfter = nil
            faults = [error]
        }
    }

    private static func fault(_ body: () throws(ApplePayKeyFault) -> Void) -> ApplePayKeyFault? {
        do throws(ApplePayKeyFault) {
            try body()
            return nil
        } catch {
            return error
        }
    }
}
