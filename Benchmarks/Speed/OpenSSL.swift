import Foundation

/// The greatest rate that one core can reach, by OpenSSL's own measurement.
enum OpenSSL {
    /// P-256 verifications per second of CPU time by `openssl speed`; nil where the program is missing.
    static func verificationsPerSecond(_ bench: Workbench) async throws -> Double? {
        let places = ["/usr/local/bin", "/usr/bin", "/bin"]
        guard places.contains(where: { FileManager.default.isExecutableFile(atPath: "\($0)/openssl") }) else {
            return nil
        }
        let text = try await bench.run(["openssl", "speed", "-seconds", "2", "ecdsap256"], name: "openssl")
        let line = text.split(separator: "\n").last { $0.contains("nistp256") }
        guard let rate = line?.split(separator: " ").last.flatMap({ Double($0) }) else {
            throw BenchFailure(description: "openssl speed printed no rate: \(text)")
        }
        return rate
    }
}
