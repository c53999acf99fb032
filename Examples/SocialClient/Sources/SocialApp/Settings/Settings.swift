/// What the builder of the app decided.
struct AppConfiguration: Sendable {
  var name = "Social"
  var attempts = 3
  var flags: Set<FeatureFlags.Flag> = [.translation]
}

/// Which features are on: what the configuration says, unless somebody has decided otherwise on this device.
struct FeatureFlags: Sendable {
  enum Flag: String, Sendable { case translation, video }
  let configuration: AppConfiguration
  let store: any KeyValueStore

  subscript(flag: Flag) -> Bool {
    get { store["flag.\(flag.rawValue)"].map { $0 == "on" } ?? configuration.flags.contains(flag) }
    nonmutating set { store["flag.\(flag.rawValue)"] = newValue ? "on" : "off" }
  }
}

/// What the person has decided about the app.
struct Settings: Sendable {
  enum Choice: String, CaseIterable, Sendable { case sharesUsage, darkTheme, french }
  let store: any KeyValueStore

  subscript(choice: Choice) -> Bool {
    get { store[choice.rawValue].map { $0 == "yes" } ?? (choice == .sharesUsage) }
    nonmutating set { store[choice.rawValue] = newValue ? "yes" : "no" }
  }
}

/// The colours of the app.
struct Theme: Sendable {
  let settings: Settings
  var background: String { settings[.darkTheme] ? "black" : "white" }
}

/// The texts of the app.
struct Texts: Sendable {
  let settings: Settings
  private static let french = ["Log in": "Se connecter", "Nothing plays": "Rien ne joue"]
  subscript(text: String) -> String { settings[.french] ? Self.french[text] ?? text : text }
}

/// The accounts that have been used on this device.
struct AccountList: Sendable {
  let store: any KeyValueStore

  var handles: [Handle] { store["accounts"]?.split(separator: " ").map { Handle(String($0)) } ?? [] }

  func add(_ handle: Handle) {
    guard !handles.contains(handle) else { return }
    store["accounts"] = (handles + [handle]).map(\.name).joined(separator: " ")
  }
}
