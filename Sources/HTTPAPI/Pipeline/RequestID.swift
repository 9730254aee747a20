import Domain

extension IDSource {
    /// The caller's own id where it is well formed, else a new one.
    func requestID(_ own: String?) -> String {
        if let own, own.isWord(1...64, or: ".-") { return own }
        return make(Request.self).rawValue
    }
}
