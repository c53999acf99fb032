// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "UDI", path: "..")],
  targets: [
    // Counts allocations by standing in for the C library's allocator: the one thing that Swift cannot do.
    .target(name: "CAllocations"),
    .executableTarget(
      name: "Compare",
      dependencies: ["CAllocations", .product(name: "UDI", package: "UDI")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "Hits",
      dependencies: [.product(name: "UDI", package: "UDI")],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ]
)
