import CLibFuzzer
import Foundation

/// The fuzzer of AppleTrust, with libFuzzer's flags, and `--list`, `--seeds=FOLDER` or `--target=NAME`.
///
/// libFuzzer ignores flags with two dashes and passes them to the processes that it starts.
@main
struct Main {
    /// The target that this process fuzzes.
    private static let target: any FuzzTarget = {
        guard let name = option("target") else { Harness.stop("say --target=NAME; --list shows the names") }
        guard let target = Targets.all.first(where: { $0.name == name }) else { Harness.stop("no target is \(name)") }
        return target
    }()

    static func main() throws {
        if CommandLine.arguments.contains("--list") {
            for target in Targets.all { print(target.name) }
            return
        }
        if let folder = option("seeds") { return try SeedFolder.write(Targets.all, to: folder) }
        _ = target
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { data, size in
                _ = Main.target.run(Array(UnsafeBufferPointer(start: data, count: size)))
                return 0
            })
    }

    private static func option(_ name: String) -> String? {
        let prefix = "--\(name)="
        return CommandLine.arguments.first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
}
