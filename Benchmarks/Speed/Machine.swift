import Foundation

/// A description of the machine on which the figures were measured.
enum Machine {
    static var description: String {
        let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = information.split(separator: "\n").first { $0.hasPrefix("model name") }
        let name = model?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown CPU"
        return "\(name), \(ProcessInfo.processInfo.activeProcessorCount) cores."
    }
}

/// CPU time, which other processes disturb less than time by the clock.
enum CPUTime {
    /// The CPU seconds of this thread.
    static var ofThread: Double {
        // Seconds and nanoseconds. The members of `timespec` cannot be named: another module's header declares it first.
        var time = [Int](repeating: 0, count: 2)
        time.withUnsafeMutableBytes { bytes in
            guard let place = bytes.bindMemory(to: timespec.self).baseAddress else { return }
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, place)
        }
        return Double(time[0]) + Double(time[1]) / 1_000_000_000
    }

    /// The CPU seconds of all threads of a process, in user space and in the kernel (proc(5), fields 14 and 15).
    static func of(_ pid: pid_t) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        // The second field is the program's name, which may hold blanks.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchFailure(description: "cannot read the CPU time of process \(pid)")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

/// The resident memory of a process (proc(5), `VmRSS`).
enum Memory {
    static var residentMebibytes: Double { residentMebibytes(of: getpid()) }

    static func residentMebibytes(of process: pid_t) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kibibytes = line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Double($0) }
        return (kibibytes ?? 0) / 1_024
    }
}

/// The times at which threads of a process gave up their core to wait (proc(5), `voluntary_ctxt_switches`): each ends with
/// a wake-up.
enum WakeUps {
    static func of(_ process: pid_t) throws -> Int {
        let tasks = "/proc/\(process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, thread in
            // A thread may end in between.
            let text = (try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }
}

/// The open files and connections of a process (proc(5), `fd`).
enum Descriptors {
    static func open(in process: pid_t) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
