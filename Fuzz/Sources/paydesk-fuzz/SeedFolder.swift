import Foundation

/// Writes the first inputs of a run: `NAME/0`, `NAME/1`, … and `NAME.dict` for each target.
enum SeedFolder {
    static func write(_ targets: [any FuzzTarget], to folder: String) throws {
        for target in targets {
            let seeds = target.seeds
            let path = "\(folder)/\(target.name)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (index, seed) in seeds.enumerated() {
                try Data(seed).write(to: URL(filePath: "\(path)/\(index)"))
            }
            let accepted = seeds.map { target.run($0) }
            guard accepted.first == true else { Harness.stop("\(target.name) refuses what it minted") }
            print("\(target.name): \(accepted.count) seeds, \(accepted.count { $0 }) of them accepted")
            let words = target.words.map { "\"\(escaped($0))\"\n" }.joined()
            try Data(words.utf8).write(to: URL(filePath: "\(path).dict"))
        }
    }

    /// Writes a word for libFuzzer's dictionaries, every byte in hexadecimal.
    private static func escaped(_ word: String) -> String {
        word.utf8.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
