import Foundation

/// The functions by which a target reports a fault.
enum Harness {
    /// Reports that a property does not hold: libFuzzer sees the abort as a crash and stores the input.
    static func finding(_ what: String) -> Never {
        complain("FINDING: \(what)")
        abort()
    }

    static func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
        if !condition { finding(what()) }
    }

    /// Ends the program where the fuzzer itself cannot work, whatever the input.
    static func stop(_ why: String) -> Never {
        complain("paydesk-fuzz: \(why)")
        exit(2)
    }

    /// Returns the value of a closure that must not throw.
    static func minted<Value>(_ body: () throws -> Value) -> Value {
        do {
            return try body()
        } catch {
            stop("nothing can be minted: \(error)")
        }
    }

    private static func complain(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}
