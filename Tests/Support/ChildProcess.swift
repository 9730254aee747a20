import Foundation

/// A program without input or output.
///
/// Foundation's `Process` waits until every process that inherited its socket has ended, so that it would wait for the
/// server that `pg_ctl` leaves running. This type waits for its own child only, which inherits no descriptor.
struct ChildProcess {
    private let pid: pid_t

    static func start(_ command: [String]) throws -> ChildProcess {
        try spawn(command, input: nil)
    }

    /// Starts a program whose input ends when this process ends, in whatever way.
    static func startUntilParentEnds(_ command: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0, fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0, fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0
        else { throw PostgresCluster.Failure(description: "cannot make a pipe") }
        // The writing end stays open: the kernel closes it when this process ends.
        _ = try spawn(command, input: ends[0])
        close(ends[0])
    }

    /// The exit status, or -1 when a signal ended the program.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -1
    }

    private static func spawn(_ command: [String], input: Int32?) throws -> ChildProcess {
        let arguments = InheritNothing.command(command, in: "/").map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var pid: pid_t = 0
        let code = posix_spawn(&pid, InheritNothing.shell, &actions, nil, arguments, environ)
        guard code == 0 else { throw PostgresCluster.Failure(description: "cannot start \(command[0]): error \(code)") }
        return ChildProcess(pid: pid)
    }
}

/// A shell that closes all descriptors that the test process has open, and then becomes the program.
///
/// SwiftNIO's sockets stay open over `exec`. A long-lived program such as the database server would hold the other end
/// of a connection that a test has closed, and a test that waits for the end of the connection would wait for ever.
enum InheritNothing {
    /// The path of the shell; not `sh`, because dash accepts descriptors of one digit only.
    static let shell = "/bin/bash"

    static func command(_ command: [String], in folder: String) -> [String] {
        let script = """
            cd "$0" || exit 126
            for each in /dev/fd/*; do
                each=${each##*/}
                if ((each > 2)); then eval "exec $each>&-"; fi
            done
            exec "$@"
            """
        return [shell, "-c", script, folder] + command
    }
}
