import Foundation
import TestSupport
import Testing

@Suite("Programs that tests start")
struct SpawnedProgramTests {
    @Test func `a program inherits nothing that the tests have open`() async throws {
        let folder = try TemporaryFolder()
        // Descriptors that stay open over exec, like SwiftNIO's sockets.
        let open = (0..<12).map { _ in Foundation.open("/dev/null", O_RDONLY) }
        defer { for descriptor in open { close(descriptor) } }
        #expect((open.max() ?? 0) > 9)
        let program = try SpawnedProgram(
            ["ls", "/dev/fd/"], in: folder.path, name: "ls", environment: ["PATH": "/usr/bin:/bin"])
        #expect(try await program.wait() == 0)
        // The last one is the folder that `ls` reads.
        #expect(program.output == "0\n1\n2\n3\n", "\(program.errors)")
    }
}
