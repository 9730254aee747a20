import AppStoreBox
import Domain
import Gateway
import ProviderKit
import Store

// The App Store in a box of a development server.
extension Configuration {
    /// The bundle id that the box sells for: that of the first app of the first `apple_iap` account; empty where there
    /// is none.
    var boxBundle: String {
        boxAccount?.settings.objects("apps").first?.text("bundle_id") ?? ""
    }

    /// The account that sells in the box: the first `apple_iap` account.
    private var boxAccount: AccountConfiguration? { accounts.first { $0.kind == "apple_iap" && $0.enabled } }

    /// The base URL of the box's server API: this server's own, whatever the public address is.
    var boxAddress: String {
        let host = WebAddress.isLoopback(host: http.host) ? http.host : "127.0.0.1"
        return "\(http.tls == nil ? "http" : "https")://\(host):\(http.port)/dev/appstore"
    }

    /// Opens the keys of the box, or makes them; nil where the configuration asks for none.
    func boxAuthority(in store: Store) async throws -> BoxAuthority? {
        guard isDevelopment, development.appStore else { return nil }
        let keyRing: KeyRing
        do throws(KeyRingError) { keyRing = try KeyRing(keys: secretKeys) } catch {
            throw CommandError.usage("paydesk.yaml: secrets.keys: \(error)")
        }
        let keys = BoxKeys(
            store: store, keyRing: keyRing, time: SystemDependencies.time, random: SystemDependencies.random)
        do { return try await keys.load() } catch let error as KeyRingError {
            throw CommandError.usage(
                "paydesk.yaml: secrets.keys: the keys of the App Store in a box stay closed: \(error); put the old key "
                    + "back, after the new one")
        }
    }

    /// Makes the settings of the box that signs by these keys.
    ///
    /// - Throws: the faults of `development.appstore_file`, and of keys that the database has changed.
    func box(of authority: BoxAuthority) throws(CommandError) -> BoxSettings {
        let account = boxAccount
        let number = account?.settings.objects("apps").first?.integer("app_apple_id").flatMap { $0 > 0 ? $0 : nil }
        let signing: BoxSigning
        do throws(BoxAuthorityError) {
            signing = try BoxSigning(authority, app: BoxApp(bundleID: boxBundle, appAppleID: number))
        } catch {
            throw .database("paydesk: the keys of the App Store in a box are damaged; restore the database")
        }
        return BoxSettings(signing: signing, account: account?.id, products: try boxProducts())
    }

    /// The products of the StoreKit configuration file; nil without one.
    private func boxProducts() throws(CommandError) -> [BoxProduct]? {
        guard let path = development.appStoreFile else { return nil }
        do throws(ConfigurationError) {
            let data = try StoreKitFile.read(path)
            let contents = try StoreKitFile.parse(data, file: path, currency: nil, fallback: defaultCurrency)
            return BoxProduct.all(of: contents.products)
        } catch {
            throw .usage("\(error)\npaydesk: development.appstore_file names this file")
        }
    }

    /// - Throws: a fault of keys that the database has changed.
    func access(to authority: BoxAuthority) throws(CommandError) -> AppStoreBoxAccess {
        do throws(BoxAuthorityError) {
            return AppStoreBoxAccess(
                roots: authority.roots, keyID: authority.keyID, issuerID: authority.issuerID,
                privateKey: try authority.keyFile(), address: boxAddress)
        } catch {
            throw .database("paydesk: the keys of the App Store in a box are damaged; restore the database")
        }
    }
}
