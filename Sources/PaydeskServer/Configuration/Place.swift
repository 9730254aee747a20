/// The position of a value: its file, line and key path.
struct Place: Sendable {
    let file: String
    var line: Int?
    var path = ""

    init(file: String, line: Int? = nil, path: String = "") {
        self.file = file
        self.line = line
        self.path = path
    }

    func member(_ key: String, line: Int?) -> Place {
        let step = key.isEmpty ? "\"\"" : key
        return Place(file: file, line: line ?? self.line, path: path.isEmpty ? step : "\(path).\(step)")
    }

    func element(_ index: Int, line: Int?) -> Place {
        Place(file: file, line: line ?? self.line, path: "\(path)[\(index)]")
    }
}
