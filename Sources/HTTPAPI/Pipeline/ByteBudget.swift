import Domain
import Gateway
import Synchronization

/// Bounds the bytes of requests, or of answers, that are in memory at once.
///
/// Everybody has a share: callers without credentials together, providers' notifications together, and each caller or
/// address alone. So nobody can fill it alone, and callers without credentials never take the room of the others.
final class ByteBudget: Sendable {
    /// The owner of counted bytes.
    enum Holder: Hashable, Sendable {
        case user(ExternalUserID)
        case key(ID<APIKey>)
        /// A provider's notification, by the sender's address; nil where that is unknown.
        case provider(IPAddress?)
        /// A caller without credentials, by address.
        case stranger(IPAddress?)
    }

    private struct Held {
        var all = 0
        var strangers = 0
        var providers = 0
        /// The bytes of each holder that has any.
        var each: [Holder: Int] = [:]
    }

    private let all: Int
    private let strangers: Int
    private let stranger: Int
    private let providers: Int
    private let provider: Int
    private let caller: Int
    private let held = Mutex(Held())

    /// - Parameters:
    ///   - bytes: the bound of all together.
    ///   - strangers: the bound of all callers without credentials together; `stranger` of each of their addresses.
    ///   - providers: the bound of all notifications together; `provider` of each address that sends them.
    ///   - caller: the bound of each user and each key.
    init(
        bytes: Int, strangers: Int? = nil, stranger: Int? = nil, providers: Int? = nil, provider: Int? = nil,
        caller: Int? = nil
    ) {
        all = bytes
        self.strangers = strangers ?? bytes
        self.stranger = stranger ?? bytes
        self.providers = providers ?? bytes
        self.provider = provider ?? bytes
        self.caller = caller ?? bytes
    }

    /// Makes the budget of request bodies; callers without credentials have at most a quarter of it.
    static func bodies() -> ByteBudget {
        ByteBudget(
            bytes: 128 << 20, strangers: 32 << 20, stranger: 8 << 20, providers: 64 << 20, provider: 32 << 20,
            caller: 16 << 20)
    }

    /// Makes the budget of answers that are being sent.
    static func answers() -> ByteBudget {
        ByteBudget(
            bytes: 64 << 20, strangers: 16 << 20, stranger: 4 << 20, providers: 16 << 20, provider: 16 << 20,
            caller: 8 << 20)
    }

    /// Counts bytes; the caller releases as many later.
    ///
    /// - Throws: `temporarilyUnavailable` where there is no room; then nothing was counted.
    func take(_ bytes: Int, for holder: Holder) throws(GatewayError) {
        guard bytes > 0 else { return }
        let fits = held.withLock { held in
            let own = held.each[holder, default: 0] + bytes
            guard held.all + bytes <= all, own <= limit(of: holder) else { return false }
            switch holder {
            case .user, .key: break
            case .provider:
                guard held.providers + bytes <= providers else { return false }
                held.providers += bytes
            case .stranger:
                guard held.strangers + bytes <= strangers else { return false }
                held.strangers += bytes
            }
            held.all += bytes
            held.each[holder] = own
            return true
        }
        guard fits else { throw .temporarilyUnavailable(retryAfter: 1) }
    }

    func giveBack(_ bytes: Int, for holder: Holder) {
        guard bytes > 0 else { return }
        held.withLock { held in
            held.all -= bytes
            switch holder {
            case .user, .key: break
            case .provider: held.providers -= bytes
            case .stranger: held.strangers -= bytes
            }
            let rest = held.each[holder, default: 0] - bytes
            held.each[holder] = rest > 0 ? rest : nil
        }
    }

    private func limit(of holder: Holder) -> Int {
        switch holder {
        case .user, .key: caller
        case .provider: provider
        case .stranger: stranger
        }
    }
}
