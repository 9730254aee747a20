/// The engine that a parameterized test runs on.
package enum TestEngine: String, CaseIterable, Sendable, CustomStringConvertible {
    case sqlite
    case postgres

    package var description: String { rawValue }
}
