import Domain
import Foundation
import PaydeskServer
import Testing

struct ConfigurationSecretsTests {
    private let folder: TemporaryFolder
    private let file: DevelopmentSecretsFile

    init() throws {
        folder = try TemporaryFolder()
        file = DevelopmentSecretsFile(path: folder.path + "/var/development-secrets.json", random: .system)
        try folder.write("paydesk.yaml", "mode: development\n")
        try folder.write("providers/box.yaml", "kind: sandbox\nsettings: {secret: s}\n")
    }

    private func load() throws -> Configuration {
        try ConfigurationLoader.load(
            folder: folder.path, environment: [:], manifests: TestKinds.manifests, developmentSecrets: file)
    }

    private func userSecret(_ configuration: Configuration) -> String? {
        if case .hs256(let secrets) = configuration.auth.keys { secrets.first?.wrappedValue } else { nil }
    }

    @Test func `development makes its secrets once and keeps them to itself`() throws {
        let first = try load()
        #expect(first.secretKeys.map(\.count) == [32])
        #expect((userSecret(first)?.utf8.count ?? 0) >= 32)
        let token = try #require(first.accounts.first?.notifyToken)
        #expect(token.utf8.count >= 32)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        let again = try load()
        #expect(again.secretKeys == first.secretKeys && userSecret(again) == userSecret(first))
        #expect(again.accounts.map(\.notifyToken) == [token])

        try folder.write("providers/crate.yaml", "kind: sandbox\nsettings: {secret: s}\n")
        let more = try load()
        #expect(more.accounts.first?.notifyToken == token)
        #expect(more.accounts.last?.notifyToken?.isEmpty == false && more.accounts.last?.notifyToken != token)
        #expect(more.secretKeys == first.secretKeys)
    }

    @Test func `what the files give is not replaced`() throws {
        try folder.write(
            "paydesk.yaml",
            """
            mode: development
            auth: {jwks_url: http://localhost:1/jwks}
            secrets: {keys: [\(ConfigurationFixture.key)]}
            """
        )
        try folder.write("providers/box.yaml", "kind: sandbox\nnotify_token: mine\nsettings: {secret: s}\n")
        let configuration = try load()
        #expect(configuration.accounts.map(\.notifyToken) == ["mine"])
        #expect(userSecret(configuration) == nil)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `nothing is written while there is a fault`() throws {
        try folder.write("providers/box.yaml", "kind: sandbox\n")
        #expect(throws: ConfigurationError.self) { try load() }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `processes that start together get the same secrets`() async throws {
        let keys = await withTaskGroup(of: [Data]?.self) { group in
            let (path, secrets) = (folder.path, file)
            for _ in 0..<8 {
                group.addTask {
                    try? ConfigurationLoader.load(
                        folder: path, environment: [:], manifests: TestKinds.manifests, developmentSecrets: secrets
                    ).secretKeys
                }
            }
            return await group.reduce(into: Set<[Data]?>()) { $0.insert($1) }
        }
        #expect(keys.count == 1 && !keys.contains(nil))
    }

    @Test func `a damaged or unwritable file is a fault that says what to do`() throws {
        try folder.write("var/development-secrets.json", "{\"user_secret\": \"hunter2\"}")
        let damaged = #expect(throws: ConfigurationError.self) { try load() }
        #expect(damaged?.description.contains("remove it") == true)
        #expect(damaged?.description.contains("hunter2") == false)
        let blocked = DevelopmentSecretsFile(path: folder.path + "/paydesk.yaml/x.json", random: .system)
        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationLoader.load(
                folder: folder.path, environment: [:], manifests: TestKinds.manifests, developmentSecrets: blocked)
        }
        #expect(error?.description.contains("secrets.keys") == true)
    }
}

extension RandomSource {
    fileprivate static let system = RandomSource { count in (0..<count).map { _ in UInt8.random(in: .min ... .max) } }
}
