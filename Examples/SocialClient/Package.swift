// swift-tools-version: 6.3
import PackageDescription

let settings: [SwiftSetting] =
  [.treatAllWarnings(as: .error)]
  + ["ExistentialAny", "MemberImportVisibility"].map { .enableUpcomingFeature($0) }

let package = Package(
  name: "SocialClient",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UDI", path: "../..")],
  targets: [
    .target(name: "SocialApp", dependencies: [.product(name: "UDI", package: "UDI")], swiftSettings: settings),
    .executableTarget(
      name: "SocialClient",
      dependencies: ["SocialApp", .product(name: "UDI", package: "UDI")],
      swiftSettings: settings),
    .testTarget(
      name: "SocialAppTests",
      dependencies: [
        "SocialApp",
        .product(name: "UDI", package: "UDI"),
        .product(name: "UDIInspector", package: "UDI"),
        .product(name: "UDITesting", package: "UDI"),
      ],
      swiftSettings: settings),
  ]
)
