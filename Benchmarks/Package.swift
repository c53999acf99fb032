// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UDI", path: "..")],
  targets: [
    // Counts allocations by replacing the C library's allocator, which cannot be done in Swift.
    .target(name: "CAllocations"),
    .executableTarget(
      name: "Compare",
      dependencies: ["CAllocations", .product(name: "UDI", package: "UDI")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "Growth",
      dependencies: [.product(name: "UDI", package: "UDI")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "Hits",
      dependencies: [.product(name: "UDI", package: "UDI")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ]
)
