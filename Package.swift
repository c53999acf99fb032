// swift-tools-version: 6.3
import PackageDescription

/// The settings of every target. The tools version implies the Swift 6 language mode.
let settings: [SwiftSetting] =
  // Strict memory safety: every use of an unsafe construct is marked.
  // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
  [.strictMemorySafety()]
  + [
    // `any` before every existential type.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    "ExistentialAny",
    // An import is internal unless it says otherwise, so no import leaks into the public interface.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    "InternalImportsByDefault",
    // A member is visible only where the module that declares it is imported.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    "MemberImportVisibility",
  ].map { .enableUpcomingFeature($0) }

// The other kinds of modules that may use the library.

let mainActorSettings = settings + [.defaultIsolation(MainActor.self), .define("MAIN_ACTOR_BY_DEFAULT")]
let swift5Settings: [SwiftSetting] = [.swiftLanguageMode(.v5)]
/// The part of "approachable concurrency" that the Swift 6 language mode does not imply.
let approachableConcurrency = ["InferIsolatedConformances", "NonisolatedNonsendingByDefault"].map {
  SwiftSetting.enableUpcomingFeature($0)
}
/// The settings of Xcode's template for apps: the Swift 5 mode, the main actor as default isolation, and "approachable
/// concurrency".
let appTemplateSettings: [SwiftSetting] =
  [.swiftLanguageMode(.v5), .defaultIsolation(MainActor.self), .define("MAIN_ACTOR_BY_DEFAULT")]
  + approachableConcurrency
  + ["DisableOutwardActorInference", "GlobalActorIsolatedTypesUsability", "InferSendableFromCaptures"].map {
    .enableUpcomingFeature($0)
  }

let package = Package(
  name: "UDI",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "UDI", targets: ["UDI"]),
    // For a program and the plug-ins that it loads, which must share one copy.
    .library(name: "UDIDynamic", type: .dynamic, targets: ["UDI"]),
    .library(name: "UDITesting", targets: ["UDITesting"]),
    .library(name: "UDIInspector", targets: ["UDIInspector"]),
  ],
  targets: [
    .target(
      name: "UDI",
      // For `pthread_getattr_np`, which Linux's C libraries declare only if extensions of the standard are requested.
      cSettings: [.define("_GNU_SOURCE", .when(platforms: [.linux]))],
      swiftSettings: settings),
    .target(
      name: "UDITesting",
      dependencies: ["UDI", "UDIInspector"],
      // The same for `dladdr` and `process_vm_readv`.
      cSettings: [.define("_GNU_SOURCE", .when(platforms: [.linux]))],
      swiftSettings: settings),
    .target(name: "UDIInspector", dependencies: ["UDI"], swiftSettings: settings),
    .executableTarget(
      name: "QuickStart",
      dependencies: ["UDI", "UDIInspector"],
      path: "Examples/QuickStart",
      exclude: ["README.md", "expected"],
      resources: [.copy("SampleLogs")],
      swiftSettings: settings),
    // Operations on trees, and the oracle that their results are compared with, for the random tests and the fuzzer.
    .target(name: "TreeModel", dependencies: ["UDI"], path: "Tests/TreeModel", swiftSettings: settings),
    // For the thread sanitizer.
    .executableTarget(
      name: "Stress", dependencies: ["UDI", "UDIInspector", "TreeModel"], path: "Tests/Stress", swiftSettings: settings),
    // For a leak checker.
    .executableTarget(
      name: "Churn", dependencies: ["UDI", "UDIInspector"], path: "Tests/Churn", swiftSettings: settings),
    // Tests that need a process or compiler flags of their own.
    .executableTarget(name: "Edges", dependencies: ["UDI"], path: "Tests/Edges", swiftSettings: settings),
    // Services that a signal stops.
    .executableTarget(
      name: "RunningServer", dependencies: ["UDI"], path: "Tests/RunningServer", swiftSettings: settings),
    .executableTarget(
      name: "FuzzTree", dependencies: ["TreeModel"], path: "Tests/FuzzTree", exclude: ["corpus"],
      swiftSettings: settings),
    .testTarget(
      name: "UDITests", dependencies: ["UDI", "UDIInspector", "UDITesting", "TreeModel"], swiftSettings: settings),
    .testTarget(name: "UDITestingTests", dependencies: ["UDI", "UDIInspector", "UDITesting"], swiftSettings: settings),
    .testTarget(name: "UDIInspectorTests", dependencies: ["UDI", "UDIInspector"], swiftSettings: settings),
    // Serves and writes pages, for a browser.
    .executableTarget(
      name: "InspectedTrees", dependencies: ["UDI", "UDIInspector"], path: "Tests/InspectedTrees",
      swiftSettings: settings),

    // The code of README and of the articles, in each kind of module that may use the library. The folders of the other
    // three targets are links to the first one.
    .testTarget(name: "ArticleTests", dependencies: ["UDI", "UDITesting", "UDIInspector"], swiftSettings: settings),
    .testTarget(
      name: "ArticleTestsMainActor", dependencies: ["UDI", "UDITesting", "UDIInspector"],
      swiftSettings: mainActorSettings),
    .testTarget(
      name: "ArticleTestsSwift5", dependencies: ["UDI", "UDITesting", "UDIInspector"], swiftSettings: swift5Settings),
    .testTarget(
      name: "ArticleTestsSwift5MainActor", dependencies: ["UDI", "UDITesting", "UDIInspector"],
      swiftSettings: appTemplateSettings),

    // One client for each kind of module, to test what differs there. In the Swift 5 mode, `register(using:)` needs the
    // feature that makes initialisers `Sendable`.
    .testTarget(name: "Swift6ClientTests", dependencies: ["UDI"], swiftSettings: settings),
    .testTarget(
      name: "MainActorClientTests", dependencies: ["UDI"], swiftSettings: mainActorSettings + approachableConcurrency),
    .testTarget(
      name: "Swift5ClientTests", dependencies: ["UDI"],
      swiftSettings: swift5Settings + [.enableUpcomingFeature("InferSendableFromCaptures")]),
  ]
)

// `UDI_TESTS` names the test targets that a build is about, if it is not about all of them: the sanitizers' builds leave out
// the articles and the clients.
if let names = Context.environment["UDI_TESTS"]?.split(separator: " ") {
  package.targets.removeAll { $0.isTest && !names.contains($0.name[...]) }
}
