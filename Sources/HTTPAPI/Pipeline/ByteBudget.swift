import Domain
import Gateway
import Synchronization

/// Bounds how many bytes of requests, or of answers, are in memory at once.
///
/// Everybody has a share: callers without credentials together, providers' notifications together, and each caller or
/// address alone. So nobody fills it, and strangers never take the room of those who may call.
final class ByteBudget: Sendable {
    /// Whose bytes they are.
    enum Holder: Hashable, Sendable {
        case user(ExternalUserID)
        case key(ID<APIKey>)
        /// A notification, by the address that it comes from; nil where that is not known.
        case provider(IPAddress?)
        /// Somebody without credentials, by address.
        case stranger(IPAddress?)
    }

    private struct Held {
        var all = 0
        var strangers = 0
        var providers = 0
        /// Only of holders that hold something.
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
    ///   - strangers: of all strangers together; `stranger` of each address of theirs.
    ///   - providers: of all notifications together; `provider` of each address that sends them.
    ///   - caller: of each user and each key.
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

    /// Bodies of requests: strangers hold at most a quarter of them.
    static func bodies() -> ByteBudget {
        ByteBudget(
            bytes: 128 << 20, strangers: 32 << 20, stranger: 8 << 20, providers: 64 << 20, provider: 32 << 20,
            caller: 16 << 20)
    }

    /// Answers that are being sent.
    static func answers() -> ByteBudget {
        ByteBudget(
            bytes: 64 << 20, strangers: 16 << 20, stranger: 4 << 20, providers: 16 << 20, provider: 16 << 20,
            caller: 8 << 20)
    }

    /// - Throws: `temporarilyUnavailable` where there is no room; otherwise as much has to be given back.
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
