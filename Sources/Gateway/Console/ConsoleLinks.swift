import Crypto
import Domain
import FoundationEssentials
import Synchronization

/// The link to the console that `serve` prints in development: it signs one browser in, once.
///
/// Only this process knows it, so it ends with the process.
final class ConsoleLinks: Sendable {
    /// The seconds for which a link is valid.
    static let lifetime: Int64 = 600
    private static let bytes = 32

    private let current = Mutex<(digest: Data, end: Timestamp)?>(nil)

    /// Makes a link's code in base64url, in the place of the one before.
    ///
    /// - Parameter now: the real time.
    func make(_ random: RandomSource, at now: Timestamp) -> String {
        let code = Base64URL.encoded(random.bytes(Self.bytes))
        let kept = (Self.digest(code), now.adding(seconds: Self.lifetime))
        current.withLock { $0 = kept }
        return code
    }

    /// Uses a code up: of two calls at once, one gets true.
    func redeem(_ code: String, at now: Timestamp) -> Bool {
        let digest = Self.digest(code)
        return current.withLock { current in
            guard let known = current, now < known.end, known.digest == digest else { return false }
            current = nil
            return true
        }
    }

    private static func digest(_ code: String) -> Data { Data(SHA256.hash(data: Data(code.utf8))) }
}
