import Domain
import Foundation

/// The real clock and randomness; only this type asks the system for them.
enum SystemDependencies {
    static let time = TimeSource {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
    }

    static let random = RandomSource { count in
        var bytes = [UInt8](repeating: 0, count: count)
        // One system call for all bytes; the standard library's generator makes one for each eight.
        if count <= 256, getentropy(&bytes, count) == 0 { return bytes }
        var generator = SystemRandomNumberGenerator()
        return bytes.map { _ in generator.next() }
    }

    /// The name of this machine; empty where it has none.
    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Makes a random name of 16 hexadecimal digits.
    static func name() -> String {
        Hex.encoded(random.bytes(8))
    }

    /// Sleeps; returns early when the task is cancelled.
    static let pause: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }

    /// Returns a number in 0..<1, for the store's retries.
    static let jitter: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// Returns seconds since 1970, for the store.
    static let seconds: @Sendable () -> Int64 = { time.now.rawValue }
}
