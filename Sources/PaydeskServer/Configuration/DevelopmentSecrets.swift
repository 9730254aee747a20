package import Domain
import Foundation

/// The secrets that development mode makes at its first start.
struct DevelopmentSecrets: Codable, Equatable {
    /// Base64 of 32 bytes.
    var encryptionKey: String
    var userSecret: String
    /// The tokens of notify URLs by account id.
    var notifyTokens: [String: String]

    private enum CodingKeys: String, CodingKey {
        case encryptionKey = "encryption_key"
        case userSecret = "user_secret"
        case notifyTokens = "notify_tokens"
    }
}

/// The file of the development secrets, readable by its owner only; once made, a secret never changes.
package struct DevelopmentSecretsFile: Sendable {
    /// Relative to the working directory.
    package static let defaultPath = "var/development-secrets.json"

    package let path: String
    private let random: RandomSource

    package init(path: String = Self.defaultPath, random: RandomSource) {
        self.path = path
        self.random = random
    }

    enum Fault: Error {
        case damaged
        case io
    }

    /// Reads the file and adds the missing secrets; processes that start together get the same values.
    func secrets(notifyTokensFor accounts: [String]) throws(Fault) -> DevelopmentSecrets {
        let lock = try lockedFile()
        defer { close(lock) }
        let existing = try existingSecrets()
        var secrets =
            existing
            ?? DevelopmentSecrets(
                encryptionKey: Data(random.bytes(32)).base64EncodedString(), userSecret: token(32), notifyTokens: [:])
        for account in accounts where secrets.notifyTokens[account] == nil {
            secrets.notifyTokens[account] = token(24)
        }
        if secrets != existing { try write(secrets) }
        return secrets
    }

    private func token(_ count: Int) -> String {
        Hex.encoded(random.bytes(count))
    }

    /// Takes an exclusive lock, which ends when the descriptor is closed.
    private func lockedFile() throws(Fault) -> Int32 {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let descriptor = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .io }
        guard flock(descriptor, LOCK_EX) == 0 else {
            close(descriptor)
            throw .io
        }
        return descriptor
    }

    private func existingSecrets() throws(Fault) -> DevelopmentSecrets? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else { throw .io }
        guard let secrets = try? JSONDecoder().decode(DevelopmentSecrets.self, from: data),
            Data(base64Encoded: secrets.encryptionKey)?.count == 32, secrets.userSecret.utf8.count >= 32
        else { throw .damaged }
        return secrets
    }

    /// Writes a second file and renames it, so that a crash leaves the old file or the new one.
    private func write(_ secrets: DevelopmentSecrets) throws(Fault) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard let data = try? encoder.encode(secrets) else { throw .io }
        let draft = path + ".new"
        unlink(draft)
        let descriptor = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .io }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        defer { close(descriptor) }
        do {
            try file.write(contentsOf: data)
            try file.synchronize()
        } catch {
            throw .io
        }
        guard rename(draft, path) == 0 else { throw .io }
    }
}
