import Crypto
import Domain
import Foundation
import NIOCore
import Synchronization
import TestSupport

/// A user of the app with a token.
struct Customer: Sendable {
    /// The secret of the users' tokens (HS256).
    static let secret = "the benchmark's secret of users' tokens"

    let name: String
    let token: String

    private static let number = Atomic<UInt32>(1 << 31)

    init(name: String) {
        self.name = name
        token = Self.token(for: name, lifetime: 86_400)
    }

    private init(name: String, lifetime: Int) {
        self.name = name
        token = Self.token(for: name, lifetime: lifetime)
    }

    /// The same user with other tokens, as after further logins.
    func again(_ count: Int) -> [Customer] {
        (1...count).map { Customer(name: name, lifetime: 86_400 + $0) }
    }

    /// A user with a name that is new in this process.
    static func new() -> Customer { Customer(name: name(number.add(1, ordering: .relaxed).newValue)) }

    /// The name of a user by number; the numbers below 2^31 are those that a database is filled with.
    ///
    /// Names are scattered, as the ids of an app's users are: the factor is odd, so that no two numbers have one name.
    static func name(_ number: UInt32) -> String {
        let digits = String(number &* 2_654_435_761, radix: 16)
        return "user-" + String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func token(for name: String, lifetime: Int) -> String {
        let now = Int(Date().timeIntervalSince1970)
        let header = Base64URL.encoded(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
        let claims = Base64URL.encoded(Data(#"{"exp":\#(now + lifetime),"iat":\#(now),"sub":"\#(name)"}"#.utf8))
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(header).\(claims)".utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return "\(header).\(claims).\(Base64URL.encoded(Data(code)))"
    }
}

extension Customer {
    /// A new month pass as the App Store signs it, bought now.
    static func purchase() -> AppleSale {
        AppleSale(Installation.product, at: Timestamp(Int64(Date().timeIntervalSince1970))) {
            $0.quantity = 1
            $0.price = 39_900
            $0.currency = "CNY"
        }
    }

    /// The request that attaches a purchase; a new purchase where none is given.
    func attach(_ sale: AppleSale = Self.purchase(), port: UInt16, isIdempotent: Bool = false) -> ByteBuffer {
        RequestBytes.post(
            "/v1/public/iap/apple/transactions/attach", port: port, token: token,
            body: #"{"signed_transaction_jws":"\#(sale.jws)"}"#, key: isIdempotent ? "attach-1" : nil)
    }

    /// The request for a checkout of a month by whichever account is chosen.
    func checkout(port: UInt16, key: String? = nil) -> ByteBuffer {
        RequestBytes.post(
            "/v1/public/checkout", port: port, token: token,
            body: #"{"sku":"vip_month","platform":"web","currency":"CNY"}"#, key: key)
    }

    /// The request for the status of this customer's entitlements.
    func status(port: UInt16) -> ByteBuffer {
        RequestBytes.get("/v1/public/iap/apple/status", port: port, token: token)
    }
}
