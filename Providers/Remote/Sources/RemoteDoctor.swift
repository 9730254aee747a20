import Domain
import FoundationEssentials
public import ProviderKit

extension RemoteProvider: ManifestFetching {
    public var manifestState: ManifestState { pin.current }

    public func fetchManifest(keeps: Bool) async -> ManifestState {
        let before = pin.current
        switch await asked() {
        case .failure(let error): pin.miss(error.words)
        case .success(let manifest): pin.take(manifest)
        }
        // A cancellation or a refund may have fetched it first.
        if keeps, let manifest = pin.unkept { await keep(manifest) }
        let after = pin.current
        if after != before { tell(after) }
        return after
    }

    /// The reason why there is no manifest, for an operator.
    struct Missing: Error {
        let words: String
    }

    func asked() async -> Result<RemoteManifest, Missing> {
        do throws(ProviderError) {
            let manifest: RemoteManifest = try await api.send(RemoteRequest(.manifest))
            if let fault = manifest.fault { return .failure(Missing(words: "its manifest cannot be taken: \(fault)")) }
            return .success(manifest)
        } catch {
            let words =
                error.isUnproven
                ? "it does not sign with a secret of this account, or its clock is wrong"
                : "it does not answer, or not with a manifest of the protocol's"
            return .failure(Missing(words: words))
        }
    }

    private func keep(_ manifest: RemoteManifest) async {
        let kept = try? JSONEncoder().encode(
            KeptManifest(pinned_at: context.time.now.rawValue, manifest: manifest))
        // If this fails, the doctor knows less until the next time; nothing else depends on it.
        if let written = try? await context.book.update(KeptManifest.key, { _ in kept }), written == kept {
            pin.wasKept()
        }
    }

    private func tell(_ state: ManifestState) {
        switch state {
        case .awaited(let why): context.log.write(.warning, "remote: no manifest yet", ["why": why])
        case .pinned: context.log.write(.notice, "remote: the manifest", ["says": pin.manifest?.words ?? ""])
        case .changed(let what):
            context.log.write(
                .error, "remote: the manifest has changed: no new payment until a restart", ["what": what])
        }
    }
}

extension RemoteProvider: OnlineDiagnosing {
    /// Fetches the plugin's manifest and compares it with the server's.
    public func diagnose() async -> [Diagnosis] {
        switch await asked() {
        case .failure(let error):
            return [
                Diagnosis(
                    .fault, "plugin",
                    "The plugin opens no payment: \(error.words). Check url and secrets here, and the plugin's log.")
            ]
        case .success(let manifest):
            var found = [Diagnosis(.good, "plugin", manifest.words)]
            if let data = try? await context.book.value(KeptManifest.key),
                let kept = try? JSONDecoder().decode(KeptManifest.self, from: data),
                case let names = manifest.differences(from: kept.manifest), !names.isEmpty
            {
                found.append(
                    Diagnosis(
                        .fault, "manifest",
                        "The plugin's \(names.joined(separator: ", ")) changed since a server took its manifest, so "
                            + "the account opens no payment: check the change and restart `paydesk serve`."))
            }
            return found
        }
    }
}
