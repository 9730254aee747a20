import Foundation
import TestSupport

/// The preloaded library between the server and libc, and the shared page by which it is controlled (`Shim/shim.c`).
struct Shim: Sendable {
    /// The page's numbers, in the order of `struct control`.
    private enum Field: Int {
        case mode, classes, call, place, error, seed, tracks, lies, delay, seen, struck, undone
    }

    enum Mode: Int64 {
        case off, count, kill, fail, powerCut
    }

    /// The kinds of calls that are counted.
    struct Classes: OptionSet {
        let rawValue: Int64
        static let write = Classes(rawValue: 1)
        static let sync = Classes(rawValue: 2)
        static let send = Classes(rawValue: 4)
    }

    /// The moment of a kill: before the call, with half of its bytes written, or after it.
    enum Moment: Int64, CaseIterable {
        case before, half, after
    }

    private static let nameOffset = 12 * 8

    private let library: String
    private let page: String
    private let descriptor: Int32

    /// Compiles the library and makes the page.
    init(source: String, in folder: String) async throws {
        library = folder + "/shim.so"
        page = folder + "/shim.page"
        let compiler = try SpawnedProgram(
            ["cc", "-shared", "-fPIC", "-O2", "-o", library, Place.absolute(source), "-lpthread"], in: folder,
            name: "cc", environment: ProcessInfo.processInfo.environment)
        guard try await compiler.wait() == 0 else {
            throw Server.Failure(description: "cc cannot compile \(source): \(compiler.errors)")
        }
        descriptor = open(page, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, 4_096) == 0 else {
            throw Server.Failure(description: "cannot make \(page)")
        }
    }

    /// The environment that a server is started with.
    ///
    /// - Parameter files: the beginning of the paths of the database's files.
    func environment(files: String) -> [String: String] {
        ["LD_PRELOAD": library, "FAULTS_CONTROL": page, "FAULTS_FILES": files]
    }

    // MARK: The page

    private subscript(field: Field) -> Int64 {
        get {
            var value: Int64 = 0
            _ = pread(descriptor, &value, 8, off_t(field.rawValue * 8))
            return value
        }
        nonmutating set {
            var value = newValue
            _ = pwrite(descriptor, &value, 8, off_t(field.rawValue * 8))
        }
    }

    /// Calls since the page was armed.
    var seen: Int64 { self[.seen] }
    var hasStruck: Bool { self[.struck] != 0 }
    /// Sectors that a power cut took back.
    var undone: Int64 { self[.undone] }

    /// The name of the call that was struck.
    var name: String {
        var bytes = [UInt8](repeating: 0, count: 256)
        _ = pread(descriptor, &bytes, bytes.count, off_t(Self.nameOffset))
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Sets the page before the server's start.
    ///
    /// - Parameters:
    ///   - tracking: true where writes can be taken back.
    ///   - lying: true where fsync only says that it worked.
    ///   - delay: the time that each sync takes in addition.
    func begin(tracking: Bool, lying: Bool = false, delay: Duration = .zero) {
        disarm()
        self[.tracks] = tracking ? 1 : 0
        self[.lies] = lying ? 1 : 0
        self[.delay] = delay.components.attoseconds / 1_000_000_000_000
    }

    /// Arms the page to strike one call of those that are made from now on.
    func arm(
        _ mode: Mode, at call: Int64, of classes: Classes, _ moment: Moment = .before, error: Int32 = 0, seed: Int64 = 0
    ) {
        disarm()
        let numbers: [(Field, Int64)] = [
            (.classes, classes.rawValue), (.call, call), (.place, moment.rawValue), (.error, Int64(error)),
            (.seed, seed), (.seen, 0), (.struck, 0), (.undone, 0), (.mode, mode.rawValue),
        ]
        for (field, value) in numbers { self[field] = value }
    }

    func disarm() { self[.mode] = Mode.off.rawValue }
}
