import ArgumentParser
import Domain
import Foundation
import Gateway

/// `paydesk clock`.
struct MovableClock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "Shows business time and, in development mode, moves it forward.",
        subcommands: [Show.self, Advance.self, To.self], defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Shows business time.")

        @OptionGroup var common: CommonOptions
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws { try await MovableClock.perform(.readClock, common, json: json) }
    }

    struct Advance: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Moves business time forward by a time.")

        @OptionGroup var common: CommonOptions
        @Argument(help: "A number with s, m, h, d or w: 90s, 12h, 30d.") var time: String
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            guard let seconds = Self.seconds(time) else {
                throw CommandError.usage("paydesk: \(time.debugDescription) is no time; write 90s, 15m, 12h, 30d or 2w")
            }
            try await MovableClock.perform(.moveClock(ClockRequest(advance_seconds: seconds)), common, json: json)
        }

        /// Reads a number of seconds, minutes, hours, days or weeks.
        static func seconds(_ text: String) -> Int64? {
            let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
            guard let unit = text.last.flatMap({ units[$0] }), text.dropLast().isDigits(1...9),
                let number = Int64(text.dropLast())
            else { return nil }
            return number * unit
        }
    }

    struct To: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Moves business time forward to a time.")

        @OptionGroup var common: CommonOptions
        @Argument(help: "Seconds since 1970, a date, or an ISO 8601 time such as 2027-01-31T08:00:00Z.") var time:
            String
        @Flag(help: "Prints JSON.") var json = false

        func run() async throws {
            let seconds = time.isDigits(1...12) ? Int64(time).map { Timestamp($0) } : nil
            guard let goal = seconds ?? Timestamp(iso8601: time) else {
                throw CommandError.usage(
                    "paydesk: \(time.debugDescription) is no time; write 2027-01-31T08:00:00Z or seconds since 1970")
            }
            try await MovableClock.perform(.moveClock(ClockRequest(to: goal)), common, json: json)
        }
    }

    private static func perform(_ command: AdminCommand, _ common: CommonOptions, json: Bool) async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        let result = try await command.perform(configuration, providers: CommandLineTool.providers)
        guard case .clock(let view) = result else { return }
        if json { return print(try JSONText.line(view)) }
        print("\(view.now.iso8601), \(view.offset_seconds) s ahead of the real time.")
        for warning in view.warnings { print(warning.shownOnOneLine) }
        if view.pending > 0, view.target > view.now {
            print("\(view.pending) jobs are not done; `paydesk clock to \(view.target.iso8601)` goes on.")
        }
    }
}
