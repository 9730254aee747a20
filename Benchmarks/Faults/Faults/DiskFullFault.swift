import Foundation
import TestSupport

/// Fills the disk under load, and frees it a moment later.
struct DiskFullFault: Fault {
    static let name = "disk-full"
    static let engines = [TestEngine.sqlite]

    var obstacle: String? { geteuid() == 0 ? nil : "only root can mount a small file system" }

    func strike(_ target: Target, _ dice: inout Dice, _ notes: inout Notes) async throws -> Aftermath {
        try await Task.sleep(for: .random(100...500, &dice))
        let ballast = target.place.folder + "/ballast"
        try fill(ballast)
        notes["full disks", default: 0] += 1
        try await Task.sleep(for: .random(500...2_000, &dice))
        if await !target.servers[0].saysReady() { notes["not ready while full", default: 0] += 1 }
        unlink(ballast)
        let freed = ContinuousClock.now
        _ = try await target.servers[0].isReady()
        let recovery = freed.duration(to: .now)
        try await Task.sleep(for: .milliseconds(500))
        return .alive(recovery: recovery)
    }

    /// Takes all the space that is left.
    private func fill(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Server.Failure(description: "cannot make \(path)") }
        defer { close(descriptor) }
        for size in [1 << 20, 4_096, 512] {
            let bytes = [UInt8](repeating: 0, count: size)
            while write(descriptor, bytes, size) > 0 {}
        }
    }
}

/// A file system in memory that is too small for what is written to it.
enum SmallDisk {
    static let mebibytes = 256

    /// Mounts it over a folder, in place of one that an earlier run left.
    static func mount(_ folder: String) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try? await unmount(folder)
        try await run(["mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m", "paydesk-faults", folder])
    }

    /// Unmounts it from the folder at once; its memory is freed when no file of it is open any more.
    static func unmount(_ folder: String) async throws { try await run(["umount", "-l", folder]) }

    private static func run(_ command: [String]) async throws {
        let program = try SpawnedProgram(
            command, in: NSTemporaryDirectory(), name: "paydesk-faults-\(command[0])",
            environment: ProcessInfo.processInfo.environment)
        guard try await program.wait() == 0 else {
            throw Server.Failure(description: "\(command.joined(separator: " ")): \(program.errors)")
        }
    }
}
