public import Foundation

/// The clock of a client: the present time and waiting, both of which tests replace.
public struct ClientTime: Sendable {
    /// The time in seconds since 1970-01-01 UTC.
    public let now: @Sendable () -> Int64
    /// Waits for so many seconds; throws when the task is cancelled.
    public let sleep: @Sendable (Int64) async throws -> Void

    public init(now: @escaping @Sendable () -> Int64, sleep: @escaping @Sendable (Int64) async throws -> Void) {
        self.now = now
        self.sleep = sleep
    }

    /// The device's clock.
    public static let system = ClientTime(
        now: { Int64(Date().timeIntervalSince1970) },
        sleep: { try await Task.sleep(nanoseconds: UInt64(max(0, $0)) * 1_000_000_000) })
}

/// The language of a client's texts and of the server's messages.
public enum ClientLanguage: String, Sendable, CaseIterable {
    case english = "en"
    case chinese = "zh-Hans"

    /// The device's language: Chinese where it comes first, else English.
    public static var preferred: ClientLanguage {
        Locale.preferredLanguages.first?.hasPrefix("zh") == true ? .chinese : .english
    }

    /// The text in this language.
    public func choose(_ english: String, _ chinese: String) -> String { self == .english ? english : chinese }
}

/// The folder in which a client keeps purchases and entitlements.
public struct ClientStorage: Sendable {
    public let folder: URL

    public init(folder: URL) { self.folder = folder }

    /// `Paydesk` in the app's folder for application support.
    public static var applicationSupport: ClientStorage {
        let manager = FileManager.default
        let folders = manager.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        return ClientStorage(folder: (folders.first ?? manager.temporaryDirectory).appendingPathComponent("Paydesk"))
    }

    /// The part of the folder that belongs to a server: what one server gave is never sent to another.
    func folder(of server: URL) -> URL { folder.appendingPathComponent(FileNames.digest(server.absoluteString)) }
}
