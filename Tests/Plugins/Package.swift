// swift-tools-version: 6.3
import PackageDescription

/// The library's product with which the program and its plug-ins are linked.
let udi = Target.Dependency.product(name: Context.environment["UDI_PRODUCT"] ?? "UDIDynamic", package: "UDI")

let package = Package(
  name: "Plugins",
  platforms: [.macOS(.v15)],
  products: ["PluginA", "PluginB"].map { .library(name: $0, type: .dynamic, targets: [$0]) },
  dependencies: [.package(name: "UDI", path: "../..")],
  targets: [.executableTarget(name: "Host", dependencies: [udi])]
    + ["PluginA", "PluginB"].map { .target(name: $0, dependencies: [udi]) }
)
