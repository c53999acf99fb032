import TreeModel

#if FUZZING
  /// libFuzzer calls this with each input that it makes up; see `.ci/fuzz`.
  @_cdecl("LLVMFuzzerTestOneInput")
  public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer guarantees that the pointer and the count are valid.
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    if let difference = replay(bytes) { fatalError(difference) }
    return 0
  }

  @_silgen_name("LLVMFuzzerRunDriver")
  private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
  ) -> CInt

  /// The package manager wants an entry point of this name; libFuzzer's own is then left out.
  @_cdecl("FuzzTree_main")
  public func fuzzMain(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> CInt {
    // Both belong to the program and live as long as it runs.
    var (count, arguments) = unsafe (count, arguments)
    return unsafe runDriver(&count, &arguments) { unsafe testOneInput($0, $1) }
  }
#else
  import Foundation

  /// Without a fuzzer: replays the inputs in the files named as arguments.
  @main
  struct Replay {
    static func main() throws {
      for path in CommandLine.arguments.dropFirst() {
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        print("\(path): \(replay(bytes) ?? "as the oracle says")")
      }
    }
  }
#endif
