import Domain
import FoundationEssentials
import Store

/// The payer's address as it is kept until the provider has opened the payment.
///
/// A repetition of that call must be equal to the first, from wherever it comes; afterwards nobody needs the address.
enum PayerAddress {
    private static func place(_ payment: ID<Payment>) -> String { "payments.payer_address/\(payment.rawValue)" }

    static func seal(_ address: IPAddress, of payment: ID<Payment>, by keyRing: KeyRing) throws -> Data {
        try keyRing.seal(Data(address.description.utf8), context: place(payment))
    }

    /// - Returns: nil where the ring has lost the key: the provider is asked without it.
    static func open(_ sealed: Data, of payment: ID<Payment>, by keyRing: KeyRing) -> String? {
        guard let opened = try? keyRing.open(sealed, context: place(payment)) else { return nil }
        return String(decoding: opened, as: UTF8.self)
    }
}
